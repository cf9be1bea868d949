import type { ColumnsHead, JsonQueryAnswer, QueryAnswer, QueryResult } from '@sonde/sdk/api'
import { parseMarked } from '../format/marked-text.ts'

/** Media type of a columns answer. */
export const COLUMNS_MEDIA_TYPE = 'application/x-sonde-columns'

/** The bytes of an answer contradict its head. */
export class ColumnsError extends Error {
  /** Stable code of this error. */
  readonly code = 'WEB_COLUMNS_MALFORMED'
}

/**
 * Reads a columns answer without copying: every array is a view of `buffer`.
 *
 * Layout: u32 little-endian length of a JSON head, the head, zeros up to a multiple of 8, then Float64 little-endian
 * columns. Throws {@link ColumnsError} if bytes are missing.
 */
export function decodeColumns(buffer: ArrayBuffer): QueryAnswer {
  if (buffer.byteLength < 4)
    throw new ColumnsError(`The answer has ${buffer.byteLength} bytes, fewer than its length field.`)
  const headBytes = new DataView(buffer).getUint32(0, true)
  if (4 + headBytes > buffer.byteLength)
    throw new ColumnsError(`The head of ${headBytes} bytes passes the end of the answer.`)
  const head = parseMarked<ColumnsHead>(new TextDecoder().decode(new Uint8Array(buffer, 4, headBytes)))
  let offset = Math.ceil((4 + headBytes) / 8) * 8

  const column = (count: number): Float64Array => {
    const end = offset + count * 8
    if (end > buffer.byteLength) throw new ColumnsError(`A column of ${count} values passes the end of the answer.`)
    const view = new Float64Array(buffer, offset, count)
    offset = end
    return view
  }

  const times = column(head.times)
  const results = head.results.map(
    (result): QueryResult => ({
      ...result,
      series: result.series.map((series) => ({
        ...series,
        values: column(series.values),
      })),
    }),
  )
  return { fromMs: head.fromMs, toMs: head.toMs, stepMs: head.stepMs, times, results }
}

/** Turns the JSON form of an answer (data of the stream's `points` event) into columns; null becomes NaN. */
export function columnsOfJson(answer: JsonQueryAnswer): QueryAnswer {
  return {
    fromMs: answer.fromMs,
    toMs: answer.toMs,
    stepMs: answer.stepMs,
    times: Float64Array.from(answer.times),
    results: answer.results.map((result) => ({
      ...result,
      series: result.series.map((series) => ({
        ...series,
        values: Float64Array.from(series.values, (value) => value ?? Number.NaN),
      })),
    })),
  }
}
