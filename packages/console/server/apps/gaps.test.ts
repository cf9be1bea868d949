import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GPU_FIELDS, type GpuField, type GpuPod } from '@sonde/sdk/api'
import { gapsOf } from './gaps.ts'

const NOW_MS = 1_790_000_000_000

function podWith(known: readonly GpuField[], more: Partial<GpuPod> = {}): GpuPod {
  const values = GPU_FIELDS.map((field) => [field, known.includes(field) ? 1 : null])
  return {
    ...{ namespace: 'ml', name: 'trainer-3', service: 'trainer', gpus: 1, instances: 0, requested: 1 },
    ...{ isWarming: false, startedMs: NOW_MS - 600_000, ageMs: 500, isSimulated: false },
    ...{ sharedWith: 0, isScheduled: null, deviceValues: {}, gaps: [], attribution: null },
    ...{ node: '', condition: { rank: 9, tone: 'ok', words: 'ok' } },
    values: Object.fromEntries(values) as GpuPod['values'],
    ...more,
  }
}

const but = (...missing: GpuField[]) => GPU_FIELDS.filter((field) => !missing.includes(field))

test('a pod of which everything is known has no gap', () => {
  assert.deepEqual(gapsOf(podWith(GPU_FIELDS), NOW_MS), [])
})

test('where nothing is known, one reason says which hop fails', () => {
  const reasonOf = (more: Partial<GpuPod>) => {
    const [gap, ...others] = gapsOf(podWith([], { ageMs: null, ...more }), NOW_MS)
    assert.deepEqual([gap?.fields, others], [[...GPU_FIELDS], []])
    return gap?.reason ?? ''
  }
  assert.match(reasonOf({ gpus: 0 }), /^it is not known which GPU it holds; look at the exporter and device plugin/)
  assert.match(
    reasonOf({ gpus: 0, requested: 1, startedMs: null, isScheduled: false }),
    /it asks for a GPU and has no node: it waits to be scheduled/,
  )
  const scheduled = reasonOf({ gpus: 0, requested: 1, startedMs: null, isScheduled: true })
  assert.match(scheduled, /^it has a node, and it is not known which GPU it holds/)
  assert.match(reasonOf({ gpus: 2 }), /nothing reports the GPUs that it holds; look at the exporter/)
  const started = { isWarming: true, startedMs: NOW_MS - 12_400 }
  assert.match(reasonOf(started), /warming: it started 12 s ago, and numbers come within 90 s/)
  assert.match(reasonOf({ ...started, startedMs: NOW_MS + 5000 }), /started 0 s ago/, 'a clock that goes ahead')
})

test('a MIG instance is not said to miss what it cannot have', () => {
  const missing = but('gpu-util', 'gpu-power-w')
  assert.deepEqual(gapsOf(podWith(missing, { instances: 1 }), NOW_MS), [
    { fields: ['gpu-util', 'gpu-power-w'], reason: 'a MIG instance has none of its own' },
  ])
  const [waiting] = gapsOf(podWith([], { gpus: 0, ageMs: null }), NOW_MS, { waiting: 'ImagePullBackOff' })
  assert.equal(waiting?.reason, 'it does not run yet: ImagePullBackOff; kubectl describe pod says why')
  const [far] = gapsOf(podWith([], { gpus: 0, ageMs: null }), NOW_MS, { elsewhere: 'node-b' })
  assert.equal(far?.reason, 'it runs on node-b, whose GPUs this agent does not read')
  const [mixed] = gapsOf(podWith(but('gpu-power-w'), { gpus: 2, instances: 1 }), NOW_MS)
  assert.match(mixed?.reason ?? '', /some of its GPUs are MIG instances/)
})

test('fields that dcgm-exporter leaves out by default are told as such where it reports the others', () => {
  const off: GpuField[] = ['gpu-sm-active', 'gpu-fp16-active', 'gpu-fp32-active']
  const [gap, ...others] = gapsOf(podWith(but(...off)), NOW_MS)
  assert.deepEqual([gap?.fields, others], [off, []])
  assert.match(gap?.reason ?? '', /counters file/)
  const bare = gapsOf(podWith(but(...off, 'gpu-tensor-active', 'gpu-dram-active')), NOW_MS)
  assert.deepEqual(
    bare.map(({ reason }) => reason),
    ['not reported of its GPUs'],
    'none of the profiled ones comes',
  )
})

test('a sum without one of several GPUs is reported, and every missing number has one reason', () => {
  const pod = podWith(but('gpu-mem-used', 'gpu-util'), { gpus: 4 })
  assert.deepEqual(gapsOf(pod, NOW_MS), [
    { fields: ['gpu-util'], reason: 'not reported of its GPUs' },
    { fields: ['gpu-mem-used'], reason: 'not reported of all its GPUs' },
  ])
})
