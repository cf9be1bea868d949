import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonQueryAnswer } from '@sonde/sdk/api'
import { answerToColumns, answerToJson, type QueryAnswer } from '@sonde/sdk/internal'
import { ColumnsError, columnsOfJson, decodeColumns } from './decode-columns.ts'

const ANSWER: QueryAnswer = {
  fromMs: 1_000,
  toMs: 4_000,
  stepMs: 1_000,
  times: Float64Array.of(2_000, 3_000, 4_000),
  results: [
    {
      metric: 'netdev_rx_bytes_total',
      unit: 'bytes',
      role: 'counter',
      help: 'Bytes received – “exactly”',
      function: 'rate',
      resolutionMs: 1_000,
      clock: 'wall',
      series: [
        { labels: { device: 'eth0' }, values: Float64Array.of(1.5, Number.NaN, 2 ** 60), resetsMs: [3_000] },
        { labels: { device: 'ünï' }, values: Float64Array.of(0, -0.25, 1e-300), resetsMs: [] },
      ],
      notes: [],
    },
    {
      metric: 'netdev_up',
      unit: '',
      role: 'gauge',
      help: '',
      function: 'last',
      resolutionMs: 0,
      clock: 'wall',
      series: [
        { labels: {}, bin: { above: null, upTo: 0.1 }, values: Float64Array.of(1, 2, 3), resetsMs: [] },
        { labels: {}, bin: { above: 0.1, upTo: null }, values: Float64Array.of(4, 5, 6), resetsMs: [] },
      ],
      notes: ['Something is absent.'],
    },
  ],
}

function bufferOf(bytes: Uint8Array): ArrayBuffer {
  return bytes.slice().buffer as ArrayBuffer
}

test('what the server encodes is what the page reads, gaps and all', () => {
  assert.deepEqual(decodeColumns(bufferOf(answerToColumns(ANSWER))), ANSWER)
})

test('columns are views of the answer: nothing is copied', () => {
  const buffer = bufferOf(answerToColumns(ANSWER))
  const answer = decodeColumns(buffer)
  assert.equal(answer.times.buffer, buffer)
  assert.equal(answer.results[0]?.series[1]?.values.buffer, buffer)
})

test('the JSON form reads as the same answer', () => {
  assert.deepEqual(columnsOfJson(JSON.parse(answerToJson(ANSWER)) as JsonQueryAnswer), ANSWER)
})

test('an answer that was cut anywhere is refused, and never read past its end', () => {
  const bytes = answerToColumns(ANSWER)
  for (let length = 0; length < bytes.length; length++) {
    const cut = bufferOf(bytes.subarray(0, length))
    assert.throws(() => decodeColumns(cut), length < 4 ? ColumnsError : Error, `${length} bytes`)
  }
})
