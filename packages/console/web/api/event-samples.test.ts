import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SamplesHeader } from '@sonde/sdk/api'
import { decodeSamples } from './event-samples.ts'

type Column = Float64Array | Float32Array

/** An answer as bytes, written without the code that reads it. */
function bytesOf(head: Omit<SamplesHeader, 'columns'>, columns: readonly Column[]): Uint8Array<ArrayBuffer> {
  const kinds = columns.map((column) => ({
    kind: column.BYTES_PER_ELEMENT === 8 ? 'f64' : 'f32',
    length: column.length,
  }))
  const text = new TextEncoder().encode(JSON.stringify({ ...head, columns: kinds }))
  const bytes: number[] = [...new Uint8Array(Uint32Array.of(text.length).buffer), ...text]
  for (const column of columns) {
    while (bytes.length % 8 !== 0) bytes.push(0)
    bytes.push(...new Uint8Array(column.buffer, column.byteOffset, column.byteLength))
  }
  return Uint8Array.from(bytes)
}

const exact = { key: 'a', isExact: true, samples: 2, times: 0, lows: 1, highs: 1 }
const coarse = { key: 'b', isExact: false, samples: 9, lows: 2, highs: 3 }
const head = { fromMs: 1_000, toMs: 1_300, points: 3, lanes: [exact, coarse] }
const columns = [
  Float64Array.of(-5, 20.25),
  Float64Array.of(7, Number.NaN),
  Float32Array.of(1, 2, Number.NaN),
  Float32Array.of(4, 5, Number.NaN),
]

test('samples have the times that are told, stretches those of equal parts', () => {
  const { lanes } = decodeSamples(bytesOf(head, columns).buffer)
  assert.deepEqual([...lanes[0]!.times], [995, 1_020.25])
  assert.deepEqual([...lanes[0]!.lows], [7, Number.NaN])
  assert.equal(lanes[0]!.highs, lanes[0]!.lows)
  assert.deepEqual([...lanes[1]!.times], [1_000, 1_100, 1_200])
  assert.deepEqual([...lanes[1]!.highs], [4, 5, Number.NaN])
})

test('lanes of one series share their times', () => {
  const { lanes } = decodeSamples(bytesOf({ ...head, lanes: [exact, { ...exact, key: 'c' }] }, columns).buffer)
  assert.equal(lanes[0]!.times, lanes[1]!.times)
})

test('bytes that end too early are refused, wherever they end', () => {
  const whole = bytesOf(head, columns)
  for (let length = 0; length < whole.length; length++)
    assert.throws(() => decodeSamples(whole.slice(0, length).buffer), `${length} of ${whole.length} bytes`)
})

test('a column that is not there, or is as long as no other, is refused', () => {
  assert.throws(() => decodeSamples(bytesOf({ ...head, lanes: [{ ...exact, lows: 9 }] }, columns).buffer), /column 9/)
  assert.throws(
    () => decodeSamples(bytesOf({ ...head, lanes: [{ ...exact, lows: 2, highs: 2 }] }, columns).buffer),
    /2 times and 3/,
  )
})
