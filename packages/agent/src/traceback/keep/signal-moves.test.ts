import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Batch, counter, createSource, defineType, gauge, label, optional, timestamp, viewsOf } from '@sonde/sdk'
import { SignalMoves } from './signal-moves.ts'
import { TIME_NS } from './test-records.ts'

const SECOND_NS = 1_000_000_000
const type = defineType('moving', 'What moves', {
  time: timestamp(),
  device: label('Device'),
  level: optional(gauge('f64')),
  events_total: counter('u64'),
})

interface LevelRow {
  readonly level?: number
  readonly events: number
}

/**
 * Movement of rows a second apart, with the first `usualCount` rows as the usual state: of the level, and of the
 * counter.
 */
function moved(rows: readonly LevelRow[], usualCount: number): { readonly level: string; readonly events: string } {
  const moves = new SignalMoves(type)
  const batches: Batch[] = []
  const source = createSource({ id: 'test', emit: (batch) => batches.push({ ...batch, bytes: batch.bytes.slice() }) })
  for (const [index, { level, events }] of rows.entries())
    source.report(type, {
      ...{ time: TIME_NS + BigInt(index * SECOND_NS), device: 'd', events_total: BigInt(events) },
      ...(level === undefined ? {} : { level }),
    })
  source.flush()
  let index = 0
  for (const { bytes, count } of batches)
    for (let at = 0; at < count; at++, index++)
      moves.take(viewsOf(bytes).data, at * type.layout.recordBytes, index * SECOND_NS, index < usualCount)
  const digits = moves.told()
  assert.equal(digits.length, type.layout.slots.length, 'a digit a slot')
  const digitAt = (name: string) => digits[type.layout.slots.find((slot) => slot.name === name)?.index ?? -1] ?? ''
  return { level: digitAt('level'), events: digitAt('events_total') }
}

const steady = (level: number, count: number): LevelRow[] =>
  Array.from({ length: count }, (_, index) => ({ level, events: index * 10 }))

test('a constant level and an evenly rising counter did not move', () => {
  assert.deepEqual(moved(steady(5, 20), 10), { level: '0', events: '0' })
})

test('a level that leaves its usual range has a digit from 2 on, higher for larger movements', () => {
  const leap = (to: number) => moved([...steady(100, 10), ...steady(to, 10)], 10).level
  assert.equal(leap(102), '1', 'two per cent are within what is usual')
  const [near = '', far = ''] = [leap(112), leap(400)]
  assert.ok(near >= '2' && far > near, `${near} and ${far}`)
  assert.equal(moved([...steady(0, 10), ...steady(1e300, 10)], 10).level <= '9', true, 'a digit stays a digit')
})

test('a level that swings before swings on without having moved', () => {
  const rows = Array.from({ length: 40 }, (_, index) => ({ level: index % 2 === 0 ? 10 : 90, events: 0 }))
  assert.equal(moved(rows, 20).level, '1')
})

test('a counter moves by its increase a second, and a reset is no increase', () => {
  const burst = steady(1, 20).map((row, index) => ({ ...row, events: index < 10 ? index * 10 : 100 + index * 900 }))
  assert.ok(moved(burst, 10).events >= '4', moved(burst, 10).events)
  const reset = steady(1, 20).map((row, index) => ({ ...row, events: (index < 10 ? index : index - 10) * 10 }))
  assert.equal(moved(reset, 10).events, '0')
})

test('a signal of only one of both times moved as it does, for nothing is there to compare', () => {
  const rows = Array.from({ length: 20 }, (_, index) => ({ events: 0, ...(index < 10 ? {} : { level: index }) }))
  assert.equal(moved(rows, 10).level, '1')
  assert.equal(
    moved(
      rows.map(({ events }) => ({ events })),
      10,
    ).level,
    '0',
    'and without a value it did not',
  )
})
