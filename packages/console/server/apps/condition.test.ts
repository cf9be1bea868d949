import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GpuAttribution, PodDetails } from '@sonde/sdk/api'
import type { PodNumbers } from './app-pod.ts'
import { appConditionOf, byAppSickness, bySickness, type ConditionFacts, conditionOf } from './condition.ts'
import { isIdle } from './idle.ts'
import type { DeviceTrouble } from './origin.ts'
import { podOf } from './test-pod.ts'

const NOW_MS = 1_790_000_000_000

interface Told extends Partial<Omit<ConditionFacts, 'details'>> {
  readonly attribution?: Partial<GpuAttribution>
}

function judged(pod: PodNumbers, { attribution = {}, ...facts }: Told = {}) {
  const known = { confidence: null, from: [], appLabel: '', serviceLabel: '', labelsFrom: '', phase: '', waiting: '' }
  const held = { via: 'kubelet', confidence: 'certain', doubt: '', resource: '' } as const
  const gpus = [{ host: 'here', uuid: 'GPU-a', instance: '', ...held }]
  const details: PodDetails = { node: '', gpus, attribution: { ...known, notes: [], ...attribution } }
  return conditionOf(pod, { nowMs: NOW_MS, details, trouble: new Map(), isIdle: false, isElsewhere: false, ...facts })
}

const busy = podOf('busy', { 'gpu-util': 80 })
const trouble = (severity: DeviceTrouble['severity']) => ({
  trouble: new Map([['GPU-a', { severity, title: 'GPU 0 is hot' }]]),
})

test('the condition of a pod is the gravest that applies, in this order', () => {
  const unscheduled = podOf('u', {}, { gpus: 0, requested: 1, isScheduled: false })
  const young = { startedMs: NOW_MS - 100_000 }
  const cases = [
    [judged(busy, { ...trouble('critical'), attribution: { phase: 'Failed' } }), 'critical', 'GPU 0 is hot'],
    [judged(busy, { attribution: { phase: 'Failed', waiting: 'ImagePullBackOff' } }), 'critical', 'failed'],
    [judged(unscheduled), 'warning', 'not scheduled'],
    [judged(busy, { attribution: { waiting: 'Unschedulable' } }), 'warning', 'not scheduled'],
    [judged(podOf('i', {}), { attribution: { waiting: 'ImagePullBackOff' } }), 'warning', 'ImagePullBackOff'],
    [judged(busy, { attribution: { waiting: 'ContainerCreating' } }), 'warning', 'ContainerCreating'],
    [judged(busy, trouble('warning')), 'warning', 'GPU 0 is hot'],
    [judged(podOf('n', {})), 'warning', 'no utilisation'],
    [judged(podOf('g', {}, { gpus: 0 })), 'warning', 'GPU not known'],
    [judged(podOf('z', { 'gpu-util': 0 }), { isIdle: true }), 'info', 'idle for 10 min'],
    [
      judged(podOf('s', {}, young), { attribution: { waiting: 'ContainerCreating' } }),
      'info',
      'starting: ContainerCreating',
    ],
    [judged(podOf('w', {}, { isWarming: true })), 'info', 'warming'],
    [judged(podOf('e', {}, { gpus: 0 }), { isElsewhere: true }), 'absent', 'on another node'],
    [judged(podOf('z', { 'gpu-util': 0 })), 'ok', 'idle now'],
    [judged(podOf('m', {}, { instances: 1 })), 'ok', 'MIG'],
    [judged(podOf('d', {}), { attribution: { phase: 'Succeeded' } }), 'ok', 'finished'],
    [judged(busy), 'ok', 'ok'],
  ] as const
  for (const [{ tone, words }, ...expected] of cases) assert.deepEqual([tone, words], expected)
  const ranks = cases.map(([{ rank }]) => rank)
  assert.deepEqual(
    ranks,
    ranks.toSorted((a, b) => a - b),
  )
})

test('a shared GPU counts with its own utilisation where the pod has none', () => {
  assert.equal(judged(podOf('s', {}, { deviceValues: { 'gpu-util': 7 } })).words, 'ok')
})

test('GPUs are idle after ten minutes without work, and not before as many are known', () => {
  const minutes = (...values: number[]) => isIdle(Float64Array.from(values))
  assert.equal(minutes(0, 0, Number.NaN, 0), true)
  assert.equal(minutes(0, 0, 0.01, 0), false)
  assert.equal(minutes(Number.NaN, 0, 0, 0), false, 'it started since')
  assert.equal(minutes(0, 0, 0, Number.NaN), false, 'it is gone')
  assert.equal(minutes(), false)
})

test('an app has the condition of its sickest pods, and the sickest app comes first', () => {
  const named = (name: string, condition: ReturnType<typeof judged>) => ({ namespace: 'ml', name, condition })
  const waiting = judged(podOf('i', {}), { attribution: { waiting: 'ImagePullBackOff' } })
  const crashing = judged(podOf('i', {}), { attribution: { waiting: 'CrashLoopBackOff' } })
  const pods = [named('c', judged(busy)), named('b', waiting), named('a', crashing), named('d', waiting)]
  const sick = appConditionOf(pods.toSorted(bySickness))
  assert.deepEqual(sick.condition, {
    ...{ tone: 'warning', words: '2 of 4 pods: ImagePullBackOff', count: 2 },
    pods: [
      { namespace: 'ml', name: 'b' },
      { namespace: 'ml', name: 'd' },
    ],
  })
  const one = appConditionOf([named('a', crashing)])
  assert.equal(one.condition.words, 'CrashLoopBackOff')
  const well = appConditionOf([named('c', judged(busy)), named('z', judged(podOf('z', { 'gpu-util': 0 })))])
  assert.deepEqual([well.condition.words, well.condition.pods], ['ok', []])
  const many = appConditionOf(Array.from({ length: 40 }, (_, i) => named(`w${i}`, judged(busy))))
  const apps = {
    well,
    many,
    one,
    sick,
    idle: appConditionOf([named('z', judged(podOf('z', { 'gpu-util': 0 }), { isIdle: true }))]),
  }
  const order = Object.entries(apps)
    .map(([name, ranked]) => ({ name, ranked }))
    .sort(byAppSickness)
  assert.deepEqual(
    order.map(({ name }) => name),
    ['sick', 'one', 'idle', 'many', 'well'],
  )
  assert.equal(appConditionOf([]).condition.tone, 'absent')
})
