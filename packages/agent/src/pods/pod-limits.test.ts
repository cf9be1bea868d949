import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Batch, RecordType } from '@sonde/sdk'
import { Periods } from '@sonde/sdk/internal'
import { NodeRecords } from '../devices/test-node-records.ts'
import { nvmlGpuType } from '../sources/nvml/type.ts'
import { podDeviceType, podInfoType } from '../sources/pods/type.ts'
import { GpuValues, gpuKey } from './gpu-values.ts'
import { PodTable } from './pod-table.ts'

/** Hands records to a table at a time. */
function recordsOf(take: (batch: Batch) => number | undefined) {
  const clock = { nowMs: 0, refused: 0 }
  const accept = (batch: Batch) => {
    clock.refused += take({ ...batch, arrivedMs: clock.nowMs }) ?? 0
  }
  const records = new NodeRecords({ accept })
  const report = (type: RecordType, values: Record<string, unknown>) => records.report(type, values)
  return { clock, report }
}

/** The result of work in steps. */
function allSteps<T>(steps: Generator<undefined, T>): T {
  let step = steps.next()
  while (step.done !== true) step = steps.next()
  return step.value
}

test('GPUs beyond the limit are counted, and find room once others are forgotten', () => {
  const values = new GpuValues('here', new Periods(), 2)
  const { clock, report } = recordsOf((batch) => values.take(batch))
  for (const UUID of ['G0', 'G1', 'G2']) report(nvmlGpuType, { gpu: '0', UUID, gpu_util: 1 })
  assert.deepEqual([clock.refused, values.counts.gpus], [1, 2])
  clock.nowMs = 200_000
  for (const UUID of ['G1', 'G2']) report(nvmlGpuType, { gpu: '0', UUID, gpu_util: 2 })
  clock.nowMs = 310_000
  allSteps(values.sweep(clock.nowMs))
  assert.deepEqual(values.counts, { gpus: 1, series: 1 })
  report(nvmlGpuType, { gpu: '0', UUID: 'G2', gpu_util: 3 })
  assert.equal(clock.refused, 2)
  assert.equal(values.now(gpuKey('here', 'G2', ''), clock.nowMs)?.values.get('util'), 0.03)
})

test('pods beyond the limit are counted, and find room once others are gone', () => {
  const table = new PodTable('here', new Periods(), 2)
  const { clock, report } = recordsOf((batch) => table.take(batch))
  for (const pod of ['a', 'b', 'c']) report(podInfoType, { namespace: 'ml', pod })
  assert.deepEqual([clock.refused, table.counts.pods], [1, 2])
  clock.nowMs = 100_000
  assert.equal(allSteps(table.forget(clock.nowMs)), true)
  report(podInfoType, { namespace: 'ml', pod: 'c' })
  assert.deepEqual([clock.refused, table.counts.pods, allSteps(table.forget(clock.nowMs))], [1, 1, false])
})

test('devices of a pod beyond 64 are counted', () => {
  const table = new PodTable('here', new Periods())
  const { clock, report } = recordsOf((batch) => table.take(batch))
  for (let i = 0; i < 70; i++) {
    report(podDeviceType, { namespace: 'ml', pod: 'a', container: 'main', UUID: `G${i}`, GPU_I_ID: '', Hostname: '' })
  }
  assert.deepEqual([clock.refused, table.counts.devices], [6, 64])
})
