import assert from 'node:assert/strict'
import { test } from 'node:test'
import { counter, defineType, gauge, optional, timestamp } from '@sonde/sdk'
import { allocateViews } from '@sonde/sdk/internal'
import { type PlacedColumn, placeColumns, type ReportColumn, slotOf } from './column.ts'
import { writeColumn } from './write.ts'

const type = defineType('test_write', 'What is written', {
  time: timestamp(),
  bytes_total: counter('u64', { help: 'Bytes' }),
  watts: optional(gauge('f64', { help: 'Watts' })),
  lanes: gauge('u8', { help: 'Lanes' }),
})

type Counter = 'packets' | 'acknowledgements'

/** Writes a field of a device with a number as its reader, and two counters. */
function write(field: string, column: ReportColumn<number, Counter>, { reader = 0, counters = [0, 0] }) {
  const views = allocateViews(type.layout.recordBytes)
  const { changing } = placeColumns<number>(type, { [field]: column }, { packets: 0, acknowledgements: 1 })
  const placed = changing[0] as PlacedColumn<number>
  const isPresent = writeColumn(views, 0, placed, reader, Float64Array.from(counters))
  return { views, slot: placed.slot, isPresent }
}

test('sums are exact to 64 bits', () => {
  const packets = 2 ** 49 + 12_345
  const { views, slot } = write('bytes_total', { packets: 4158, acknowledgements: 82 }, { counters: [packets, 77] })
  const expected = (BigInt(packets) * 4158n + 77n * 82n) & 0xffff_ffff_ffff_ffffn
  assert.equal(views.u64[slot.offset / 8], expected)
})

test('a counter is written by its name, and what a function says of a reader', () => {
  const counter = write('bytes_total', 'acknowledgements', { counters: [1, 2 ** 40] })
  assert.equal(counter.views.u64[counter.slot.offset / 8], 2n ** 40n)
  const lanes = write('lanes', (reader) => 2 * reader, { reader: 8 })
  assert.equal(lanes.views.u8[lanes.slot.offset], 16)
})

test('what is not a number is absent where it may be', () => {
  assert.equal(write('watts', (reader) => reader, { reader: Number.NaN }).isPresent, false)
  assert.equal(write('watts', (reader) => reader, { reader: 4 }).isPresent, true)
})

test('a field that the type has not is refused', () => {
  assert.throws(() => slotOf(type, 'volts'), /no field volts/)
})
