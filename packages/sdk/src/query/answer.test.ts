import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordingSource, sondeError } from '../../test/helper.ts'
import { counter, gauge, label, timestamp } from '../schema/field.ts'
import { Periods } from '../schema/periods.ts'
import { defineType } from '../schema/record-type.ts'
import { answerRequest, type MetricColumns } from './answer.ts'
import { ColumnReader, slotsOfMetric } from './column.ts'
import { parseQueryRequest } from './parse.ts'

const START_MS = 1_800_000_000_000
const port = defineType('port', '', { time: timestamp(), device: label(), rx: counter('u64'), heat: gauge('f64') })

function answer(metric: string, fn: string): number[] {
  const { source, emitted } = recordingSource({ intervalMs: 1000 })
  for (let s = 0; s <= 3; s++) {
    source.report(port, { time: BigInt(START_MS + s * 1000) * 1_000_000n, device: 'eth0', rx: 10 * s, heat: 5 - s })
  }
  source.flush()
  const find = (): MetricColumns[] =>
    slotsOfMetric(port, metric).map((slot) => {
      const periods = new Periods()
      const reader = new ColumnReader(port, slot, () => true, periods)
      for (const batch of emitted) {
        periods.take(batch)
        reader.push(batch)
      }
      return { type: port, slot, clock: 'wall', series: reader.take() }
    })
  const window = { fromMs: START_MS + 1000, toMs: START_MS + 3000, stepMs: 1000 }
  const { results } = answerRequest(parseQueryRequest({ ...window, queries: [{ metric, function: fn }] }), find)
  return results.flatMap(({ series }) => series.flatMap(({ values }) => [...values]))
}

test('counters have a rate, gauges have values, and what is not there has no series', () => {
  assert.deepEqual(answer('port_rx', 'rate'), [10, 10])
  assert.deepEqual(answer('port_heat', 'last'), [3, 2])
  assert.deepEqual(answer('port_none', 'rate'), [])
})

test('the rate or increase of a gauge is refused', () => {
  for (const fn of ['rate', 'increase']) {
    assert.throws(() => answer('port_heat', fn), sondeError('QRY_FORM', /port_heat is a gauge.*allowed: last, avg/))
  }
})

test('a quantile of anything but a histogram is refused', () => {
  const body = { fromMs: 0, toMs: 1000, queries: [{ metric: 'port_heat', function: 'quantile', quantile: 0.5 }] }
  const [slot] = slotsOfMetric(port, 'port_heat')
  assert.ok(slot)
  const find = () => [{ type: port, slot, clock: 'wall', series: [] }]
  assert.throws(() => answerRequest(parseQueryRequest(body), find), sondeError('QRY_FORM', /port_heat is no histogram/))
})
