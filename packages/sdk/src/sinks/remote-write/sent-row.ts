import { parseSeriesKey } from '../../schema/series.ts'
import type { EncodedLabels } from '../../wire/remote-write/series.ts'
import type { SentMetric, SentMetrics } from './sent-metrics.ts'

/** The series of equal labels: those of all metrics of a type. */
export interface SentRow {
  readonly key: string
  readonly columns: SentMetrics
  /** The source that reports it. */
  readonly owner: string
  /** The order of its coming. */
  born: number
  /** Metrics of it that rows of other types send; undefined if there are none. */
  hidden: ReadonlySet<SentMetric> | undefined
  /** The version of `columns` for which `hidden` holds; −1 if it does not hold. */
  decided: number
  readonly labels: readonly (readonly [name: string, value: string])[]
  /** The encoded labels of each lane, once they were used, and their generation. */
  readonly encoded: (EncodedLabels | undefined)[]
  generation: string
  /** 1: a lane has a value at the far end. 0: it has none, or has ended there. */
  readonly live: Uint8Array
  /** The newest value of each counter, NaN if it is not known, and when it was 0, 0 if that is not known. */
  readonly counts: Float64Array
  readonly startsMs: Float64Array
  /** Time of the newest sample that was sent, and of its record, which may be earlier. */
  lastMs: number
  recordMs: number
  /** When its newest record was encoded, by the clock of this process. Unit: milliseconds. */
  seenMs: number
  /** The request that it is in, and its place there. */
  request: number
  place: number
}

/** Makes a row without samples. `text` is its labels as `/metrics` shows them. */
export function createRow(columns: SentMetrics, owner: string, key: string, text: string): SentRow {
  return {
    key,
    columns,
    owner,
    born: 0,
    hidden: undefined,
    decided: -1,
    labels: Object.entries(parseSeriesKey(text)),
    encoded: new Array<EncodedLabels | undefined>(columns.laneCount).fill(undefined),
    generation: '',
    live: new Uint8Array(columns.laneCount),
    counts: new Float64Array(columns.laneCount).fill(Number.NaN),
    startsMs: new Float64Array(columns.laneCount),
    lastMs: Number.NEGATIVE_INFINITY,
    recordMs: Number.NEGATIVE_INFINITY,
    seenMs: 0,
    request: -1,
    place: -1,
  }
}
