import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sondeCommand } from '@sonde/sdk/internal'
import type { AppPod } from './app-pod.ts'
import type { GpuReaderState } from './origin.ts'
import { gpuServices } from './services.ts'
import { stateOf } from './state.ts'
import { podOf } from './test-pod.ts'

const withUtil = (count: number) => Array.from({ length: count }, (_, i) => podOf(`with-${i}`, { 'gpu-util': i }))
const without = (count: number, more: Partial<AppPod> = {}) =>
  Array.from({ length: count }, (_, i) => podOf(`without-${i}`, {}, more))

test('each number is over the pods that have it', () => {
  const pods = [
    podOf('a', { 'gpu-util': 0, 'gpu-power-w': 100 }),
    podOf('b', { 'gpu-util': 90 }, { gpus: 3 }),
    podOf('c', { 'gpu-power-w': 300 }),
    podOf('d', { 'gpu-util': 7 }, { service: 'alpha' }),
  ]
  const [alpha, decode] = gpuServices(pods, [])
  assert.deepEqual([alpha?.name, decode?.name, decode?.pods, decode?.gpus], ['alpha', 'decode', 3, 5])
  assert.deepEqual(decode?.values['gpu-util'], { avg: 45, min: 0, max: 90, count: 2 })
  assert.deepEqual(decode?.values['gpu-power-w'], { avg: 200, min: 100, max: 300, count: 2 })
  assert.equal(decode?.values['gpu-sm-active'], null)
  assert.deepEqual(gpuServices([], []), [])
})

describe('numbers are partial where over a quarter of the settled pods have no utilisation:', () => {
  for (const [words, pods, isPartial, missing] of [
    ['none is settled', without(3, { isWarming: true }), false, 0],
    ['1 of 4', [...withUtil(3), ...without(1)], false, 1],
    ['2 of 7', [...withUtil(5), ...without(2)], true, 2],
    ['1 of 1', without(1), true, 1],
    [
      '1 of 3, with 9 more that are warming',
      [...withUtil(2), ...without(1), ...without(9, { isWarming: true })],
      true,
      1,
    ],
    ['pods with MIG instances alone are not counted', [...withUtil(3), ...without(5, { instances: 1 })], false, 0],
    ['a pod with an instance and a GPU is', [...withUtil(2), ...without(1, { gpus: 2, instances: 1 })], true, 1],
    ['a pod that was given no GPU is', [...withUtil(2), ...without(1, { gpus: 0 })], true, 1],
    ['idle is a number', [podOf('idle', { 'gpu-util': 0 })], false, 0],
  ] as const) {
    test(words, () => {
      const [service] = gpuServices(pods, [])
      assert.deepEqual([service?.isPartial, service?.missing.length], [isPartial, missing])
    })
  }
})

describe('the state is the first that holds:', () => {
  const reader = (state: GpuReaderState['state'], name = 'nvml'): GpuReaderState => ({
    name,
    state,
    reason: 'no driver',
  })
  const settled = without(1)
  const warming = without(1, { isWarming: true })
  for (const [words, pods, readers, state] of [
    ['a number is there, whatever else', withUtil(1), [], 'ready'],
    ['any of the nine is a number', [podOf('a', { 'gpu-power-w': 0 })], [], 'ready'],
    ['nothing reads GPUs', settled, [], 'no_source'],
    ['a source starts', [], [reader('starting'), reader('failing')], 'warming'],
    ['every source fails, or sees none', settled, [reader('empty'), reader('failing')], 'disabled'],
    ['every source sees none', settled, [reader('empty'), reader('empty', 'dcgm')], 'no_node'],
    ['the scraper is off, and nothing else reads', settled, [reader('off'), reader('empty')], 'disabled'],
    ['the scraper is off, and another source reads', [], [reader('off'), reader('reading')], 'no_pods'],
    ['one reads, another fails', [], [reader('failing'), reader('reading')], 'no_pods'],
    ['no pod', [], [reader('reading')], 'no_pods'],
    ['no pod, and readers are not known', [], undefined, 'no_pods'],
    ['all pods have just started', warming, [reader('reading')], 'warming'],
    ['a pod has not', [...warming, ...settled], [reader('reading')], 'late'],
    ['the same where readers are not known', settled, undefined, 'late'],
  ] as const) {
    test(words, () => {
      const told = stateOf('chat', pods, readers === undefined ? {} : { readers }, false)
      assert.equal(told.state, state)
      assert.equal(told.summary === '', state === 'ready')
      assert.equal(told.advice.length === 0, state === 'ready')
    })
  }

  test('where nothing is read, it says what each source found and how to see why', () => {
    const { summary, advice } = stateOf(
      'chat',
      [],
      { readers: [{ ...reader('empty'), reason: 'it answers 500' }] },
      false,
    )
    assert.equal(summary, 'No node with a GPU is seen; asked: nvml (it answers 500).')
    assert.deepEqual(advice, ['Sonde asks again by itself.', `To see why: ${sondeCommand()} explain nvml`])
  })

  test('as long as GPU observability is not enabled, that is said first, with the command', () => {
    const told = [[], [reader('empty')]].map((readers) => stateOf('chat', [], { readers, isEnabled: false }, false))
    for (const { summary, advice } of told) {
      assert.match(summary, /^GPU observability is not enabled/)
      assert.match(advice[0] ?? '', /params set gpu_observability_enable=true nvidia_device_plugin_enable=true$/)
    }
    const { state, advice } = stateOf('chat', [], { readers: [], isEnabled: false, place: 'prometheus' }, false)
    assert.equal(state, 'no_source')
    assert.match(advice.at(-1) ?? '', /let the Prometheus scrape it/)
    const reads = stateOf('chat', [], { readers: [reader('reading')], isEnabled: false }, false)
    assert.doesNotMatch(reads.summary, /enabled/, 'data_sources works without parameters')
  })

  test('pods that wait to be scheduled are not said to have run', () => {
    const waiting = without(1, { gpus: 0, requested: 1, startedMs: null, isScheduled: false })
    const { state, summary, advice } = stateOf('chat', waiting, {}, true)
    assert.equal(state, 'late')
    assert.match(summary, /they wait to be scheduled/)
    assert.match(advice[0] ?? '', /kubectl describe pod -n \S+ without-0$/)
    const [forged] = waiting.map((pod) => ({ ...pod, name: 'a; reboot' }))
    const [command] = stateOf('chat', forged === undefined ? [] : [forged], {}, true).advice
    assert.match(command ?? '', /'a; reboot'$/, 'a name from outside is one word of a shell')
  })

  test('the failing hop is named', () => {
    const given = stateOf('chat', without(1, { gpus: 0 }), {}, true)
    assert.match(given.advice.join(' '), /without-0.*exporter.*dcgm-exporter.*device plugin/)
    assert.match(stateOf('chat', settled, {}, true).advice.join(' '), /exporter/)
  })
})

test('pods that request GPUs: their number, and those without a known GPU', () => {
  const asking = without(3, { requested: 2, gpus: 0 })
  const [first] = asking
  const pods = [...asking.slice(1), { ...first, gpus: 2 } as (typeof asking)[number]]
  const [service] = gpuServices(pods, [])
  assert.deepEqual(service?.expected, { pods: 3, gpus: 6, seen: 1, missing: ['without-1', 'without-2'] })
  assert.equal(gpuServices(without(2, { requested: null }), [])[0]?.expected, null)
})

test('the state says that no pod requests a GPU only if requests are known', () => {
  assert.equal(stateOf('chat', [], {}, true).summary, 'No pod of chat asks for a GPU.')
  const told = stateOf('chat', [], {}, false)
  assert.equal(told.summary, 'No pod of chat is known to hold a GPU.')
  assert.match(told.advice.join(' '), /type: kube_state_metrics/)
})
