import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Batch } from '@sonde/sdk'
import { Devices } from '../devices/devices.ts'
import { NodeRecords } from '../devices/test-node-records.ts'
import { nvmlGpuInfoType, nvmlGpuType } from '../sources/nvml/type.ts'
import { Hints } from './hints.ts'

const START_MS = Date.UTC(2026, 0, 1)
const GPUS = 4

/**
 * An agent that asks the exporters of two other nodes for 60 s; gives the hints. `values` says what a GPU has at a
 * second; undefined if it gives no sample.
 */
function watchTwo(values: (host: string, gpu: number, second: number) => Record<string, number> | undefined) {
  let nowMs = START_MS
  const devices = new Devices({ now: () => nowMs, host: 'agent' })
  const hints = new Hints({ devices })
  const records = new NodeRecords({ accept: (batch: Batch) => [devices, hints].map((sink) => sink.accept(batch))[0] })
  for (let second = 0; second < 60; second++) {
    nowMs = START_MS + second * 1000
    for (const Hostname of ['node-a', 'node-b'])
      for (let i = 0; i < GPUS; i++) {
        const found = values(Hostname, i, second)
        if (found === undefined) continue
        const of = { Hostname, gpu: String(i), UUID: `GPU-${Hostname}-${i}`, device: `nvidia${i}`, modelName: 'H100' }
        const time = BigInt(nowMs) * 1_000_000n
        records.report(nvmlGpuInfoType, { ...of, time, pci_address: `0000:${i + 1}b:00.0` })
        records.report(nvmlGpuType, { ...of, time, power_usage: 400, gpu_util: 90, ...found })
      }
    hints.evaluate(nowMs + 100)
    hints.evaluate(nowMs + 600)
  }
  return hints.answer().hints
}

test('no GPU is lost where the exporter of its node falls silent while that of another node answers', () => {
  const hints = watchTwo((host, _, second) => (host === 'node-a' && second >= 30 ? undefined : {}))
  assert.deepEqual(hints, [])
})

test('a GPU is lost where the other GPUs of its node answer, and only these are its siblings', () => {
  const hints = watchTwo((host, gpu, second) => (host === 'node-a' && gpu === 2 && second >= 30 ? undefined : {}))
  assert.deepEqual(
    hints.map(({ id }) => id),
    ['gpu_lost/gpu-2@node-a'],
  )
  assert.match(hints[0]?.sentence ?? '', /3 siblings answer/)
  assert.deepEqual([...(hints[0]?.affected ?? [])].sort(), ['gpu-0@node-a', 'gpu-1@node-a', 'gpu-3@node-a'])
})

test('a hint about a whole node names that node', () => {
  const brake = 0x80
  const hints = watchTwo((host, _, second) =>
    host === 'node-b' && second >= 30 ? { clocks_event_reasons: brake, sm_clock: 500 } : {},
  )
  assert.deepEqual(
    hints.map(({ id }) => id),
    ['power_brake/node@node-b'],
  )
  assert.match(hints[0]?.title ?? '', / on node-b$/)
  assert.ok(hints[0]?.affected.every((id) => id.endsWith('@node-b')))
})
