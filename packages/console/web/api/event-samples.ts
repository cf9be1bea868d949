import { routeAddress, type SamplesHeader } from '@sonde/sdk/api'
import { parseMarked } from '../format/marked-text.ts'
import { getBytes } from './client.ts'

/** Numbers of an answer. */
export type SampleColumn = Float64Array | Float32Array

/** Samples of a lane over a span, as columns. */
export interface LaneSamples {
  readonly key: string
  /** Time of each sample, or start of each span. Unit: milliseconds since the epoch. */
  readonly times: Float64Array
  /** The least and the greatest value of each point; the same column if each point is a sample. NaN without a value. */
  readonly lows: SampleColumn
  readonly highs: SampleColumn
  /** Whether each point is a sample. Otherwise it is a span that ends at the start of the next. */
  readonly isExact: boolean
}

/** The samples of several lanes over a span. */
export interface SamplesAnswer {
  readonly fromMs: number
  readonly toMs: number
  readonly lanes: readonly LaneSamples[]
}

/** Media type of a samples answer. */
const SAMPLES_MEDIA_TYPE = 'application/vnd.sonde.samples'
/** Size of a point: two extremes, or the value of a sample and possibly its time. Unit: bytes. */
const STRETCH_BYTES = 8
const SAMPLE_BYTES = 16
/** Largest answer. Stays below a megabyte with its header. Unit: bytes. */
const ANSWER_LIMIT_BYTES = 900_000

/** The bytes of an answer contradict its head. */
class SamplesError extends Error {
  /** Stable code of this error. */
  readonly code = 'WEB_SAMPLES_MALFORMED'
}

/** Most points per lane of a request, so that the answer stays below a megabyte. */
export function pointsFor(laneCount: number, wanted: number): number {
  const most = Math.floor(ANSWER_LIMIT_BYTES / (Math.max(1, laneCount) * Math.max(STRETCH_BYTES, SAMPLE_BYTES)))
  return Math.max(2, Math.min(Math.ceil(wanted), most))
}

/** A request for samples of an event. */
export interface SamplesRequest {
  /** Id of the event as an incident: node and number. */
  readonly event: string
  readonly lanes: readonly string[]
  readonly fromMs: number
  readonly toMs: number
  readonly points: number
}

/** Requests samples of at most 64 lanes. Throws `ApiError`. */
export async function getSamples({ event, lanes, fromMs, toMs, points }: SamplesRequest): Promise<SamplesAnswer> {
  const parameters = { id: event, lanes: lanes.join(), from: fromMs, to: toMs, points }
  return decodeSamples(await getBytes(routeAddress('/api/v1/incidents/:id/samples', parameters), SAMPLES_MEDIA_TYPE))
}

/**
 * Reads a samples answer. Values are views of `buffer`; times are computed from the announced times.
 *
 * Layout: u32 little-endian length of a JSON head, the head, then little-endian columns, each at a multiple of 8.
 * Throws {@link SamplesError} if bytes or columns are missing.
 */
export function decodeSamples(buffer: ArrayBuffer): SamplesAnswer {
  if (buffer.byteLength < 4)
    throw new SamplesError(`The answer has ${buffer.byteLength} bytes, fewer than its length field.`)
  const headBytes = new DataView(buffer).getUint32(0, true)
  if (4 + headBytes > buffer.byteLength)
    throw new SamplesError(`The head of ${headBytes} bytes passes the end of the answer.`)
  const head = parseMarked<SamplesHeader>(new TextDecoder().decode(new Uint8Array(buffer, 4, headBytes)))
  const { fromMs, toMs, points } = head
  const columns = columnsOf(buffer, 4 + headBytes, head)
  const column = (at: number): SampleColumn => {
    const found = columns[at]
    if (!found) throw new SamplesError(`The head names column ${at} of ${columns.length}.`)
    return found
  }
  const stepMs = (toMs - fromMs) / points
  const stretches = Float64Array.from({ length: points }, (_, at) => fromMs + at * stepMs)
  // Lanes of one series share their times.
  const told = new Map<number, Float64Array>()
  const timesAt = (at: number): Float64Array => {
    const times = told.get(at) ?? Float64Array.from(column(at), (afterMs) => fromMs + afterMs)
    told.set(at, times)
    return times
  }
  const lanes = head.lanes.map(({ key, isExact, times, lows, highs }): LaneSamples => {
    const lane = {
      key,
      isExact,
      times: times === undefined ? stretches : timesAt(times),
      lows: column(lows),
      highs: column(highs),
    }
    if (lane.lows.length !== lane.times.length || lane.highs.length !== lane.times.length)
      throw new SamplesError(`The lane ${key} has ${lane.times.length} times and ${lane.lows.length} values.`)
    return lane
  })
  return { fromMs, toMs, lanes }
}

function columnsOf(buffer: ArrayBuffer, headEnd: number, { columns }: SamplesHeader): readonly SampleColumn[] {
  let offset = headEnd
  return columns.map(({ kind, length }) => {
    offset = Math.ceil(offset / 8) * 8
    const end = offset + length * (kind === 'f64' ? 8 : 4)
    if (end > buffer.byteLength) throw new SamplesError(`A column of ${length} values passes the end of the answer.`)
    const view = kind === 'f64' ? new Float64Array(buffer, offset, length) : new Float32Array(buffer, offset, length)
    offset = end
    return view
  })
}
