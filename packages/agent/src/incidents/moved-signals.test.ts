import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Incident, ListedType } from '@sonde/sdk/api'
import type { History, SeriesAnswer } from '@sonde/sdk/internal'
import { movedSignals } from './moved-signals.ts'

const START_MS = Date.UTC(2026, 10, 30, 14, 3)
const TIMES = Float64Array.from({ length: 90 }, (_, at) => START_MS - 120_000 + at * 2000)

/** A clock that halves at the start on one device, and stays on the other. */
const history = {
  query: async () => ({
    times: TIMES,
    results: [
      {
        series: ['gpu-0', 'gpu-1'].map((gpu) => ({
          labels: { gpu },
          values: TIMES.map((ms) => (gpu === 'gpu-0' && ms > START_MS ? 900 : 1800)),
        })) as unknown as SeriesAnswer[],
      },
    ],
  }),
} as unknown as History

test('what moved on the device at fault is told, even if it is the evidence of the rule', async () => {
  const incident = {
    ...{ device: 'gpu-0', affected: ['gpu-1'], startMs: START_MS, isSimulated: false },
    hints: [{ evidence: [{ metric: 'clock', function: 'last' }] }],
  } as unknown as Incident
  const types = [{ name: 'gpu', fields: [{ metric: 'clock', role: 'gauge', unit: 'MHz' }] }] as unknown as ListedType[]
  const { signals, devices } = await movedSignals({ incident, types, history, deviceOf: (_, { gpu }) => gpu })
  assert.deepEqual(signals, [], 'the evidence is not among what else moved')
  assert.deepEqual(
    devices.map(({ device, signals: own }) => [device, own.map(({ before, after }) => [before, after])]),
    [
      ['gpu-0', [[1800, 900]]],
      ['gpu-1', []],
    ],
  )
})
