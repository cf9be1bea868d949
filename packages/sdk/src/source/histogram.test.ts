import assert from 'node:assert/strict'
import { test } from 'node:test'
import { property, recordingSource, sondeError } from '../../test/helper.ts'
import { PrometheusRig } from '../../test/prometheus-rig.ts'
import { buckets, counter, gauge, label, optional, timestamp } from '../schema/field.ts'
import { defineType } from '../schema/record-type.ts'

const wait = defineType('wait', 'Waiting', {
  time: timestamp(),
  queue: label(),
  seconds: buckets('u64', [0.1, 1, 10], { unit: 'seconds' }),
  seconds_sum: counter('f64', { unit: 'seconds' }),
})
const T0 = 1_800_000_000_000_000_000n

test('a value on an edge is in the bin that ends there, and what is beyond all edges in the last', () => {
  const { source, emitted } = recordingSource()
  const seconds = source.bind(wait, { queue: 'mail' }).histogram('seconds')
  for (const value of [0, 0.1, 0.11, 1, 10, 10.5]) seconds.observe(value)
  source.collect(T0)
  assert.deepEqual(emitted[0]?.records, [
    { time: T0, queue: 'mail', seconds: [2n, 2n, 1n, 1n], seconds_sum: 0.1 + 0.11 + 1 + 10 + 10.5 },
  ])
})

test('a histogram that nobody observed yet is shown with zeros, since nothing was observed', () => {
  const { source, emitted } = recordingSource()
  source.bind(wait, { queue: 'mail' })
  source.collect(T0)
  assert.deepEqual(emitted[0]?.records, [{ time: T0, queue: 'mail', seconds: [0n, 0n, 0n, 0n], seconds_sum: 0 }])
})

test('what is no number, not finite or below a sum is refused, and neither bin nor sum has it', () => {
  const { source, emitted } = recordingSource()
  const seconds = source.bind(wait, { queue: 'mail' }).histogram('seconds')
  for (const value of [Number.NaN, Infinity, -Infinity, -0.1, '1', null, 1n])
    assert.throws(() => seconds.observe(value as number), sondeError('SRC_VALUE', /allowed: a/))
  source.collect(T0)
  assert.deepEqual(emitted[0]?.records[0]?.seconds, [0n, 0n, 0n, 0n])
  assert.equal(emitted[0]?.records[0]?.seconds_sum, 0)
})

test('a sum of kind u64 is exact beyond 2^53, and takes whole numbers alone', () => {
  const { source, emitted } = recordingSource()
  const type = defineType('t', '', { size: buckets('u32', [1024]), size_sum: counter('u64') })
  const size = source.bind(type, {}).histogram('size')
  size.observe(Number.MAX_SAFE_INTEGER)
  size.observe(2)
  assert.throws(() => size.observe(0.5), sondeError('SRC_VALUE', /whole number/))
  source.collect(T0)
  assert.deepEqual(emitted[0]?.records, [{ size: [1, 1], size_sum: 2n ** 53n + 1n }])
})

test('a histogram without a sum, and one with an edge below 0, take negative values', () => {
  for (const fields of [
    { change: buckets('u32', [0, 5]) },
    { change: buckets('u32', [-5, 0]), change_sum: counter('f64') },
  ]) {
    const { source, emitted } = recordingSource()
    source
      .bind(defineType('t', '', fields), {})
      .histogram('change')
      .observe(-4)
    source.collect(T0)
    const bins = 'change_sum' in fields ? [0, 1, 0] : [1, 0, 0]
    assert.deepEqual(emitted[0]?.records[0]?.change, bins)
  }
})

test('an optional histogram is absent until a value is observed', () => {
  const { source, emitted } = recordingSource()
  const type = defineType('t', '', { n: counter('u8'), size: optional(buckets('u64', [1])) })
  const size = source.bind(type, {}).histogram('size')
  source.collect(T0)
  size.observe(3)
  source.collect(T0)
  assert.deepEqual(
    emitted.map(({ records }) => records),
    [[{ n: 0 }], [{ n: 0, size: [0n, 1n] }]],
  )
})

test('a released histogram does nothing', () => {
  const { source, emitted } = recordingSource()
  const row = source.bind(wait, { queue: 'mail' })
  const seconds = row.histogram('seconds')
  row.release()
  seconds.observe(1)
  source.bind(wait, { queue: 'other' })
  source.collect(T0)
  assert.deepEqual(emitted[0]?.records[0]?.seconds, [0n, 0n, 0n, 0n])
})

test('only bins have a histogram handle', () => {
  const { source } = recordingSource()
  const type = defineType('t', '', { level: gauge('u8'), size: buckets('u64', [1]) })
  const row = source.bind(type, {})
  assert.throws(
    () => row.histogram('level'),
    sondeError('SRC_BIND', /t\.level is a gauge of kind u8; a histogram handle writes one of: size/),
  )
  assert.throws(() => row.counter('size'), sondeError('SRC_BIND', /t\.size is a bucket/))
})

test('Prometheus shows buckets, count and an exact sum', async () => {
  const rig = new PrometheusRig()
  const source = rig.source()
  const type = defineType('message', '', {
    queue: label(),
    bytes: buckets('u64', [64, 1024], { unit: 'bytes' }),
    bytes_sum: counter('u64', { unit: 'bytes' }),
  })
  const bytes = source.bind(type, { queue: 'mail' }).histogram('bytes')
  for (const value of [64, 65, Number.MAX_SAFE_INTEGER, 9]) bytes.observe(value)
  source.collect(T0)
  const lines = (await rig.lines()).map((line) => line.replace(/ 0*(?=\d)/, ' '))
  assert.deepEqual(lines, [
    'message_bytes_bucket{queue="mail",le="64.0"} 2',
    'message_bytes_bucket{queue="mail",le="1024.0"} 3',
    'message_bytes_bucket{queue="mail",le="+Inf"} 4',
    'message_bytes_count{queue="mail"} 4',
    'message_bytes_sum{queue="mail"} 9007199254741129',
  ])
})

property('every value is in the bin that a search from the left finds', 50, (random) => {
  const edges = [...new Set(Array.from({ length: random.integer(1, 40) }, () => random.integer(-50, 50)))]
  edges.sort((a, b) => a - b)
  const expected = new Array(edges.length + 1).fill(0n)
  const { source, emitted } = recordingSource()
  const type = defineType('t', '', { x: buckets('u64', edges) })
  const x = source.bind(type, {}).histogram('x')
  for (let i = 0; i < 200; i++) {
    const value = random.integer(-120, 120) / 2
    const bin = edges.findIndex((edge) => value <= edge)
    expected[bin < 0 ? edges.length : bin] += 1n
    x.observe(value)
  }
  source.collect(T0)
  assert.deepEqual(emitted[0]?.records[0]?.x, expected)
})
