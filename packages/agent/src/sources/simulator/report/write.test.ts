import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allocateViews, counter, defineType, gauge, optional, timestamp } from '@sonde/sdk'
import { type Columns, fraction, placeColumns, sum, whole } from './column.ts'
import { writeColumn } from './write.ts'

const type = defineType('test_write', 'What is written', {
  time: timestamp(),
  bytes_total: counter('u64', { help: 'Bytes' }),
  watts: optional(gauge('f64', { help: 'Watts' })),
  lanes: gauge('u8', { help: 'Lanes' }),
})

function write(columns: Columns, numbers: number[]) {
  const views = allocateViews(type.layout.recordBytes)
  const isPresent = placeColumns(type, columns).map((placed) =>
    writeColumn(views, 0, placed, Float64Array.from(numbers)),
  )
  return { views, isPresent }
}

test('sums are exact to 64 bits', () => {
  const packets = 2 ** 49 + 12_345
  const { views } = write({ bytes_total: sum([0, 4158], [1, 82]) }, [packets, 77])
  const slot = type.layout.slots.find(({ name }) => name === 'bytes_total')
  const expected = (BigInt(packets) * 4158n + 77n * 82n) & 0xffff_ffff_ffff_ffffn
  assert.equal(views.u64[(slot?.offset ?? 0) / 8], expected)
})

test('what is not a number is absent where it may be', () => {
  const { isPresent } = write({ watts: fraction(0), lanes: whole(1) }, [Number.NaN, 4])
  assert.deepEqual(isPresent, [false, true])
})

test('a field that the type has not is refused', () => {
  assert.throws(() => write({ volts: whole(0) }, [1]), /no field volts/)
})
