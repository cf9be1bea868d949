import {
  type Batch,
  countDrop,
  type Labels,
  type RecordType,
  readRecords,
  type Sink,
  type Source,
  sinkStats,
  viewsOf,
  wallNs,
} from '@sonde/sdk'
import { absenceType, createOwnSource, labelOf, labelsOf, seriesKey } from '@sonde/sdk/internal'
import type { Logger } from 'pino'
import { acceptBatch } from '../pipeline/accept-batch.ts'
import { SERVED_METRICS, type ServedMetric } from '../sources/origins/metric-origins.ts'
import { originType } from './origin-type.ts'

/** Series whose origin is remembered. Policy: further series are not watched, and counted as `origin_limit`. */
const SERIES_MAX = 16_384
/** Series without a record for longer are forgotten. Unit: milliseconds. */
const SILENT_MS = 3_600_000
/** A change is reported again this often. Unit: milliseconds. */
const REPEAT_MS = 60_000
/** Longer reasons are cut. Unit: characters. */
const REASON_LENGTH_MAX = 256
/** Reasons of ended series that are kept. Policy: the oldest leaves. */
const REASONS_MAX = 1024
const NO_REASON = 'its source started again and found another origin'

interface Known {
  origin: string
  seenMs: number
  change: Change | undefined
}

interface Change {
  readonly metric: ServedMetric
  readonly device: string
  readonly kind: string
  readonly origin: string
  readonly previous: string
  readonly reason: string
  readonly count: number
  readonly changedNs: bigint
  readonly output: Source
}

/** A change whose reason is not known yet. */
interface Found {
  readonly metric: ServedMetric
  readonly labels: Labels
  readonly previous: string
  /** Type and labels of the series that ends. */
  readonly ended: string
  readonly known: Known
  readonly output: Source
  readonly isLate: boolean
}

/**
 * Watches the origins of series, whoever chooses them, also across a new process of the source. A change is logged, and
 * reported as `sonde_origin` for `/metrics`, history and `sonde explain`.
 */
export class OriginChanges implements Sink {
  readonly name = 'origins'
  readonly stats = sinkStats()
  readonly #emit: (batch: Batch) => void
  readonly #log: Pick<Logger, 'warn'>
  readonly #known = new Map<string, Known>()
  /** Reasons of ended series, by type and series. */
  readonly #reasons = new Map<string, string>()
  /** Outputs by the constant labels of sources. */
  readonly #outputs = new Map<string, Source>()
  readonly #pending: Found[] = []
  #repeatedMs = Number.NEGATIVE_INFINITY
  #isClosed = false

  constructor(emit: (batch: Batch) => void, log: Pick<Logger, 'warn'>) {
    this.#emit = emit
    this.#log = log
  }

  accept(batch: Batch): void {
    acceptBatch(this.stats, batch, this.#isClosed ? undefined : (batch) => this.#take(batch))
  }

  /** Reports new changes, and repeats earlier changes. `nowMs` uses the clock of `arrivedMs` of batches. */
  evaluate(nowMs: number): void {
    if (this.#isClosed) return
    if (nowMs - this.#repeatedMs >= REPEAT_MS) this.#repeat(nowMs)
    this.#settle()
    for (const output of this.#outputs.values()) output.emit()
  }

  async flush(): Promise<void> {
    // The next evaluation reports the changes.
  }

  async close(): Promise<void> {
    this.#isClosed = true
  }

  #take(batch: Batch): number {
    if (batch.origin !== 'own') return 0
    if (batch.type.fingerprint === absenceType.fingerprint) return this.#takeReasons(batch)
    const metric = servedMetricOf(batch.type)
    return metric === undefined ? 0 : this.#takeOrigins(metric, batch)
  }

  #takeReasons({ bytes, count, symbols }: Batch): number {
    for (const { type, series, field, code, reason } of readRecords(absenceType, viewsOf(bytes), count, symbols)) {
      if (code !== 'gone' || field !== '' || !series.includes('origin="')) continue
      const key = `${type}{${series}}`
      this.#reasons.delete(key)
      this.#reasons.set(key, reason)
      const [oldest] = this.#reasons.keys()
      if (this.#reasons.size > REASONS_MAX && oldest !== undefined) this.#reasons.delete(oldest)
    }
    return 0
  }

  /** Returns the number of records beyond the limit. */
  #takeOrigins(metric: ServedMetric, { type, source, bytes, count, arrivedMs }: Batch): number {
    const views = viewsOf(bytes)
    let beyond = 0
    for (let record = 0, at = 0; record < count; record++, at += type.layout.recordBytes) {
      const labels = labelsOf(type, source, views, at)
      const { origin = '', ...others } = labels
      const key = `${type.name}{${seriesKey(others)}}`
      const known = this.#known.get(key)
      if (known === undefined) {
        if (this.#known.size < SERIES_MAX) this.#known.set(key, { origin, seenMs: arrivedMs, change: undefined })
        else beyond++
        continue
      }
      known.seenMs = arrivedMs
      if (known.origin === origin) continue
      const ended = `${type.name}{${seriesKey({ ...labels, origin: known.origin })}}`
      const output = this.#outputFor(source.labels)
      this.#pending.push({ metric, labels, previous: known.origin, ended, known, output, isLate: false })
      known.origin = origin
    }
    countDrop(this.stats, 'origin_limit', beyond)
    return beyond
  }

  /** Reports changes. The end of the old series may arrive after the new series, so its reason is awaited once. */
  #settle(): void {
    for (const found of this.#pending.splice(0)) {
      const reason = this.#reasons.get(found.ended)
      if (reason !== undefined || found.isLate) this.#change(found, reason ?? NO_REASON)
      else this.#pending.push({ ...found, isLate: true })
    }
  }

  #change({ metric, labels, previous, known, output }: Found, reason: string): void {
    const { change: before } = known
    const told = { origin: labelOf(labels, 'origin'), previous, reason: reason.slice(0, REASON_LENGTH_MAX) }
    const of = { metric, device: labelOf(labels, 'device'), kind: labelOf(labels, 'type'), ...told }
    if (before !== undefined) reportGone(before)
    known.change = { ...of, count: (before?.count ?? 0) + 1, changedNs: wallNs(), output }
    this.#log.warn(of, 'a metric has another origin now')
    report(known.change)
  }

  #outputFor(labels: Labels): Source {
    const key = seriesKey(labels)
    let output = this.#outputs.get(key)
    if (output === undefined) {
      output = createOwnSource({ id: this.name, labels, intervalMs: REPEAT_MS, emit: this.#emit })
      this.#outputs.set(key, output)
    }
    return output
  }

  #repeat(nowMs: number): void {
    this.#repeatedMs = nowMs
    for (const [key, { seenMs, change }] of this.#known) {
      if (nowMs - seenMs <= SILENT_MS) {
        if (change !== undefined) report(change)
        continue
      }
      this.#known.delete(key)
      if (change !== undefined) reportGone(change)
    }
  }
}

/** The metric of a type that several origins can serve. */
function servedMetricOf(type: RecordType): ServedMetric | undefined {
  if (!type.labels.some(({ name }) => name === 'origin')) return undefined
  const names = new Set(type.metrics.values())
  return SERVED_METRICS.find((metric) => names.has(metric))
}

function labelsOfChange({ metric, device, kind, origin, previous, reason }: Change): Labels {
  return { metric, device, kind, origin, previous, reason }
}

function report(change: Change): void {
  const { count, changedNs, output } = change
  const changed_timestamp_seconds = Number(changedNs) / 1e9
  const record = { time: wallNs(), ...labelsOfChange(change), changes_total: count, changed_timestamp_seconds }
  output.report(originType, record as never)
}

function reportGone(change: Change): void {
  const { output } = change
  const series = seriesKey({ ...labelsOfChange(change), ...output.info.labels })
  const reason = 'the origin changed again, or the series is gone'
  output.report(absenceType, { time: wallNs(), type: originType.name, series, field: '', code: 'gone', reason })
}
