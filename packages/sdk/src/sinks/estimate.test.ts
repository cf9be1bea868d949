import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RatesAnswer, SeriesRate } from '../api/rates.ts'
import { inlineSet } from '../fieldset/inline-set.ts'
import { element } from '../schema/element.ts'
import { array, buckets, counter, label, timestamp, value } from '../schema/field.ts'
import { definitionOf } from '../schema/fingerprint.ts'
import { defineType } from '../schema/record-type.ts'
import type { CommonOptions } from './common-options.ts'
import { type Estimate, estimateOf } from './estimate.ts'
import { SINKS } from './registry.ts'

const port = defineType(
  'port',
  'A port',
  {
    time: timestamp(),
    device: label(),
    rx_total: counter('u64'),
    tx_total: counter('u64'),
    lane_errors_total: array(counter('u32'), 4),
    wait_seconds: buckets('u32', [1, 2], { unit: 'seconds' }),
  },
  { core: ['rx_total'] },
)

const flow = defineType('flow', 'A flow', {
  time: timestamp(),
  protocol: element('PROTOCOL'),
  bytes_total: element('IN_BYTES', counter('u64')),
})
const note = defineType('note', 'A note', { time: timestamp(), code: value('u32') })

/** Two ports whose source reports twice a second; one of them has no value of `tx_total`. */
const PORTS: SeriesRate = {
  source: 'netdev',
  tag: '',
  type: port.fingerprint,
  series: 2,
  recordsPerS: 4,
  present: { rx_total: 2, tx_total: 1, lane_errors_total: 2, wait_seconds: 2 },
}
const FLOWS: SeriesRate = {
  source: 'app',
  tag: 'flows',
  type: flow.fingerprint,
  series: 3,
  recordsPerS: 0.3,
  present: { bytes_total: 3 },
}

function answerOf(rates: readonly SeriesRate[]): RatesAnswer {
  const types = [port, flow, note].map((type) => ({ fingerprint: type.fingerprint, definition: definitionOf(type) }))
  return { types, rates, leftOut: 0 }
}

function estimate(
  common: CommonOptions,
  { kind = 'jsonl', lines, rates = [PORTS] }: { kind?: string; lines?: string[]; rates?: readonly SeriesRate[] } = {},
): Estimate {
  const definition = SINKS.find(({ name }) => name === kind)
  assert.ok(definition)
  return estimateOf({ definition, common }, lines && inlineSet(lines), answerOf(rates))
}

/** Two of `rx_total`, one of `tx_total`, four lanes of two ports, and three bins with a count of two ports. */
const ALL = 2 + 1 + 8 + 8

test('every present value is a series, each lane and each bin too, and is sent as often as the source reports', () => {
  assert.deepEqual(estimate({}), { series: ALL, samplesPerS: ALL * 2, bytesPerS: ALL * 2 * 40 })
})

test('the class, the field set, the names of sources and the tags leave series out', () => {
  assert.equal(estimate({ set: 'core' }).series, 2)
  assert.equal(estimate({}, { lines: ['[port]', '^tx'] }).series, 1)
  assert.equal(estimate({ set: 'core' }, { lines: ['[port]', '^tx'] }).series, 0)
  const rates = [PORTS, FLOWS]
  assert.equal(estimate({ sources: ['net*'] }, { rates }).series, ALL)
  assert.equal(estimate({ tags: ['flows'] }, { rates }).series, 3)
  assert.equal(estimate({ tags: ['counters'] }, { rates }).series, ALL)
})

test('an interval lowers the rate, and raises none', () => {
  const rates = [PORTS, FLOWS]
  assert.equal(estimate({ intervalS: 4 }).samplesPerS, ALL / 4)
  // Each flow comes every ten seconds.
  const { samplesPerS } = estimate({ intervalS: 4, sources: ['app'] }, { rates })
  assert.ok(Math.abs(samplesPerS - 0.3) < 1e-9, `${samplesPerS}`)
})

test('a destination that cannot carry a type gets none of its series, and has its own bytes a sample', () => {
  const rates = [PORTS, FLOWS]
  const flows = estimate({}, { kind: 'netflow', rates })
  // A flow is 9 bytes: a protocol, and a counter of 64 bits.
  assert.deepEqual([flows.series, flows.bytesPerS.toFixed(3)], [3, '2.700'])
  const { samplesPerS, bytesPerS } = estimate({}, { kind: 'remote_write', rates })
  assert.equal(bytesPerS.toFixed(3), (samplesPerS * 25).toFixed(3))
})

test('a type without series, and a type that is not listed, count as nothing', () => {
  const nothing = { series: 0, samplesPerS: 0, bytesPerS: 0 }
  const silent = { ...PORTS, type: note.fingerprint, series: 0, recordsPerS: 5, present: {} }
  const unknown = { ...PORTS, type: '0'.repeat(32) }
  assert.deepEqual(estimate({}, { rates: [silent, unknown] }), nothing)
})
