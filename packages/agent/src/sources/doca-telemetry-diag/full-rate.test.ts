import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSource } from '@sonde/sdk'
import { SAMPLE_1 } from '../../native/doca/layout.ts'
import type { SourceContext } from '../source.ts'
import type { DeviceTimes } from './device-times.ts'
import { FullRate, type FullRateParts } from './full-rate.ts'
import { docaDiagSampleType } from './type.ts'

const PERIOD_NS = 100_000
const QUERY_SAMPLES = 100

/**
 * Returns the times of the samples of queries. Each query states how far the clock was ahead of the device. `told`
 * receives the lead that is reported to the ring.
 */
function timesOf(aheadNs: readonly number[], told: number[] = []): number[] {
  const times: number[] = []
  let ahead = 0
  const put = (bytes: Uint8Array, aheadOfClockNs = 0n) => {
    told.push(Number(aheadOfClockNs))
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const { recordBytes } = docaDiagSampleType.layout
    for (let at = 0; at < bytes.byteLength; at += recordBytes) times.push(Number(view.getBigUint64(at, true)))
  }
  const sampleBytes = SAMPLE_1.values
  const samples = new DataView(new ArrayBuffer(QUERY_SAMPLES * sampleBytes))
  const fullRate = new FullRate(
    {
      ...{ device: 'mlx5_0', type: docaDiagSampleType, hasRealTime: true, ringSamples: 1000 },
      sampler: { samples, count: QUERY_SAMPLES, sampleBytes, ids: [] } as unknown as FullRateParts['sampler'],
      times: {
        isKnown: true,
        ticksOf: (high: number, low: number) => BigInt(high) * 1_000_000_000n + BigInt(low),
        monoNs: (ticks: bigint) => ticks + BigInt(ahead),
      } as unknown as DeviceTimes,
      querySamples: QUERY_SAMPLES,
    },
    {
      sampled: () => ({ put, lose: () => undefined }),
      source: createSource({ id: 'test', emit: () => undefined }),
    } as unknown as SourceContext,
  )
  for (const [query, each] of aheadNs.entries()) {
    ahead = each
    for (let index = 0; index < QUERY_SAMPLES; index++)
      samples.setUint32(index * sampleBytes + SAMPLE_1.earliestLow, (query * QUERY_SAMPLES + index) * PERIOD_NS, true)
    fullRate.put()
  }
  return times
}

test('times are those of the clock', () => {
  const times = timesOf([7, 7, 7])
  assert.deepEqual(
    times,
    times.map((_, index) => 7 + index * PERIOD_NS),
  )
})

test('times that are ahead of the clock never fall or stop, and slow down until the clock catches up', () => {
  // The first reading of the clock may be milliseconds off: ten samples here, of a hundred in a query.
  const told: number[] = []
  const times = timesOf([1_000_000, ...Array.from({ length: 20 }, () => 0)], told)
  assert.ok(Math.abs((told[1] ?? 0) - 900_000) < 1000, 'the last of the query before is a sample earlier')
  assert.ok(told.slice(2).every((one, index) => one <= (told[index + 1] ?? 0)) && told.at(-1) === 0, String(told))
  const steps = times.slice(1).map((time, index) => time - (times[index] as number))
  assert.ok(Math.min(...steps) > 0)
  const within = steps.filter((_, index) => (index + 1) % QUERY_SAMPLES !== 0)
  assert.ok(Math.min(...within) >= 0.95 * PERIOD_NS - 1 && Math.max(...within) <= PERIOD_NS + 1)
  assert.equal(times.at(-1), (times.length - 1) * PERIOD_NS)
})
