import { align } from '../schema/layout.ts'
import type { QueryAnswer } from './form.ts'

/** Content type of an answer as columns. */
export const COLUMNS_CONTENT_TYPE = 'application/x-sonde-columns'

/** An answer as JSON; a gap is `null`. */
export function answerToJson(answer: QueryAnswer): string {
  return [...answerToJsonParts(answer)].join('')
}

/** An answer as JSON, one series at a time, so that a large answer need not be in memory as a whole. */
export function* answerToJsonParts({ times, results, ...window }: QueryAnswer): Generator<string> {
  yield `${JSON.stringify(window).slice(0, -1)},"times":${numbersToJson(times)},"results":[`
  for (const [index, { series, ...result }] of results.entries()) {
    yield `${index === 0 ? '' : ','}${JSON.stringify(result).slice(0, -1)},"series":[`
    for (const [at, { values, ...one }] of series.entries())
      yield `${at === 0 ? '' : ','}${JSON.stringify(one).slice(0, -1)},"values":${numbersToJson(values)}}`
    yield ']}'
  }
  yield ']}'
}

/** A plain array, because JSON.stringify writes a typed array as an object. NaN becomes null. */
function numbersToJson(numbers: Float64Array): string {
  return JSON.stringify(Array.from(numbers))
}

/**
 * An answer as columns: the length of the head, the head as JSON with counts in place of arrays, padding, and the
 * arrays as Float64.
 */
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
