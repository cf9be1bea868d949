import type { SamplesHeader } from '@sonde/sdk/internal'
import { getBytes } from './client.ts'

/** Samples of one lane over a stretch, as columns. */
export interface LaneSamples {
  readonly key: string
  /** Unit: milliseconds since the epoch. */
  readonly times: Float64Array
  /** The least and the greatest value of each point; one and the same column where each point is a sample. */
  readonly lows: Float64Array
  readonly highs: Float64Array
  /** Whether each point is a sample. */
  readonly isExact: boolean
}

/** Some lanes over one stretch. */
export interface SamplesAnswer {
  readonly fromMs: number
  readonly toMs: number
  readonly lanes: readonly LaneSamples[]
}

/** Media type of a samples answer. */
export const SAMPLES_MEDIA_TYPE = 'application/vnd.sonde.samples'
/** What a point takes at most: a time, a least and a greatest value. Unit: bytes. */
const POINT_BYTES = 24
/** Below a megabyte with its header, whatever is asked. Unit: bytes. */
const ANSWER_LIMIT_BYTES = 900_000

/** Says that an answer's bytes are not what its head announces. */
export class SamplesError extends Error {
  /** Stable code of this error. */
  readonly code = 'WEB_SAMPLES_MALFORMED'
}

/** Points a lane of a question may have, so that the answer stays below a megabyte. */
export function pointsFor(laneCount: number, wanted: number): number {
  return Math.max(2, Math.min(Math.ceil(wanted), Math.floor(ANSWER_LIMIT_BYTES / (Math.max(1, laneCount) * POINT_BYTES))))
}

/** What is asked of the samples of an event. */
export interface SamplesRequest {
  readonly event: number
  readonly lanes: readonly string[]
  readonly fromMs: number
  readonly toMs: number
  readonly points: number
}

/** Asks for samples of some lanes. Throws `ApiError`. */
export async function getSamples({ event, lanes, fromMs, toMs, points }: SamplesRequest): Promise<SamplesAnswer> {
  const keys = lanes.map(encodeURIComponent).join(',')
  const address = `/api/v1/events/${event}/samples?lanes=${keys}&from=${fromMs}&to=${toMs}&points=${points}`
  return decodeSamples(await getBytes(address, SAMPLES_MEDIA_TYPE))
}

/**
 * Reads a samples answer without copying: every column is a view of `buffer`.
 *
 * Layout: u32 little-endian length of a JSON head, the head, zeros up to a multiple of 8, then Float64 little-endian
 * columns. Throws {@link SamplesError} where the bytes end before the head says so.
 */
export function decodeSamples(buffer: ArrayBuffer): SamplesAnswer {
  if (buffer.byteLength < 4)
    throw new SamplesError(`The answer has ${buffer.byteLength} bytes, fewer than its length field.`)
  const headBytes = new DataView(buffer).getUint32(0, true)
  if (4 + headBytes > buffer.byteLength)
    throw new SamplesError(`The head of ${headBytes} bytes passes the end of the answer.`)
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, headBytes))) as SamplesHeader
  let offset = Math.ceil((4 + headBytes) / 8) * 8
  const column = (count: number): Float64Array => {
    const end = offset + count * 8
    if (end > buffer.byteLength) throw new SamplesError(`A column of ${count} values passes the end of the answer.`)
    const view = new Float64Array(buffer, offset, count)
    offset = end
    return view
  }
  const lanes = head.lanes.map(({ key, points, isExact }): LaneSamples => {
    const times = column(points)
    const lows = column(points)
    return { key, times, lows, highs: isExact ? lows : column(points), isExact }
  })
  return { fromMs: head.fromMs, toMs: head.toMs, lanes }
}
