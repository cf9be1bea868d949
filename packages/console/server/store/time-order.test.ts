import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { type Batch, createSource, defineType, gauge, label, timestamp, viewsOf } from '@sonde/sdk'
import { Random, SEED } from '../../../sdk/test/random.ts'
import { inTimeOrder } from './time-order.ts'

const EPOCH = 1_780_000_000_000_000_000n

const type = defineType('meter', 'A meter', { time: timestamp(), device: label('Meter'), order: gauge('f64') })

/** One batch for each list of times; `order` counts all records. */
function batchesOf(...lists: readonly (readonly number[])[]): Batch[] {
  const batches: Batch[] = []
  const keep = (batch: Batch) => void batches.push({ ...batch, bytes: batch.bytes.slice() })
  let order = 0
  for (const list of lists) {
    const source = createSource({ id: 'meters', emit: keep })
    for (const time of list) source.report(type, { time: EPOCH + BigInt(time), device: `m${time % 3}`, order: order++ })
    source.flush()
  }
  return batches
}

function rowsOf(batches: Iterable<Batch>): [time: number, order: number][] {
  const rows: [number, number][] = []
  const slot = type.layout.slots.find(({ name }) => name === 'order')
  for (const { bytes, count } of batches) {
    const { data } = viewsOf(bytes)
    for (let record = 0; record < count; record++) {
      const at = record * type.layout.recordBytes
      const time = Number(data.getBigUint64(at + (type.time?.offset ?? 0), true) - EPOCH)
      rows.push([time, data.getFloat64(at + (slot?.offset ?? 0), true)])
    }
  }
  return rows
}

test('batches in order pass as they are', () => {
  const batches = batchesOf([1, 2, 2], [2, 5])
  deepEqual([...inTimeOrder(batches)], batches)
})

test('records of different batches are put in the order of their time, equal times in the order of arrival', () => {
  const random = new Random(SEED)
  const lists = Array.from({ length: 20 }, () => Array.from({ length: 50 }, () => random.integer(1, 300)))
  const batches = batchesOf(...lists)
  const expected = rowsOf(batches).sort(([a, first], [b, second]) => a - b || first - second)
  deepEqual(rowsOf(inTimeOrder(batches)), expected)
})

test('beyond the memory, only the parts are in order, and no record is lost', () => {
  const batches = batchesOf([5, 6], [1, 2], [4], [3])
  const bytes = 4 * type.layout.recordBytes
  const times = rowsOf(inTimeOrder(batches, bytes)).map(([time]) => time)
  deepEqual(times, [1, 2, 5, 6, 3, 4])
  equal(rowsOf(inTimeOrder([])).length, 0)
})
