import { align } from '../schema/layout.ts'
import type { QueryAnswer } from './form.ts'

/** Content type of an answer as columns. */
export const COLUMNS_CONTENT_TYPE = 'application/x-sonde-columns'

/** An answer as JSON; a gap is `null`. */
export function answerToJson(answer: QueryAnswer): string {
  // JSON.stringify writes NaN as null, and a typed array as an object: hence the plain arrays.
  return JSON.stringify(answer, (_key, value: unknown) => (value instanceof Float64Array ? Array.from(value) : value))
}

/** An answer as columns: length of the head, head as JSON with counts in place of arrays, padding, then the arrays as Float64. */
export function answerToColumns(answer: QueryAnswer): Uint8Array {
  const head = Buffer.from(
    JSON.stringify(answer, (_key, value: unknown) => (value instanceof Float64Array ? value.length : value)),
  )
  const columns = [answer.times, ...answer.results.flatMap((result) => result.series.map((series) => series.values))]
  const start = align(4 + head.length, 8)
  const bytes = new Uint8Array(start + columns.reduce((sum, column) => sum + column.byteLength, 0))
  new DataView(bytes.buffer).setUint32(0, head.length, true)
  bytes.set(head, 4)
  let at = start
  for (const column of columns) {
    bytes.set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength), at)
    at += column.byteLength
  }
  return bytes
}
