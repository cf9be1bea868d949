import {
  type Batch,
  countDrop,
  isPresent,
  type Labels,
  type RecordOf,
  type RecordType,
  readRecords,
  type Sink,
  type Source,
  type SourceInfo,
  sinkStats,
  viewsOf,
  wallNs,
} from '@sonde/sdk'
import {
  absenceType,
  createOwnSource,
  labelOf,
  labelsOf,
  labelText,
  mergeLabels,
  ownerOf,
  Periods,
  seriesKey,
} from '@sonde/sdk/internal'
import { acceptBatch } from '../pipeline/accept-batch.ts'
import { INFO_METRICS, type InfoMetric } from './type.ts'

/** Rows that are kept. Policy: further rows are counted as `info_limit`. */
const ROW_COUNT_MAX = 16_384
/** A row that does not change is reported this often. Unit: milliseconds. */
const REPEAT_MS = 15_000
/** A source without a report for longer no longer counts. Unit: milliseconds. */
const SILENT_MS = 300_000
const SWEEP_EVERY_MS = 60_000
/**
 * Changes of a row in an hour: each makes a new series. Policy: further changes wait, and their records are counted as
 * `info_changes`.
 */
const CHANGES_AN_HOUR = 8
const HOUR_MS = 3_600_000
/** Longer texts are cut. Unit: characters. */
const TEXT_LENGTH_MAX = 256
/** Rows that one call of `evaluate` reports; the next call reports further rows. */
const ROWS_A_CALL = 1000

const METRICS: ReadonlyMap<string, InfoMetric> = new Map(INFO_METRICS.map((metric) => [metric.from.name, metric]))

/** Texts that one source reports of a series. */
interface SourceTexts {
  texts: readonly string[]
  /** On the clock of `arrivedMs` of batches. */
  seenMs: number
}

/** Where the rows of sources with equal constant labels are reported. */
interface Output {
  readonly source: Source
  /** The declared periods of rows. Unit: milliseconds. */
  readonly periodsMs: Map<RecordType, number>
}

/** One series of an info metric. */
interface InfoRow {
  readonly metric: InfoMetric
  /** Labels of the series, without texts. */
  readonly labels: Labels
  readonly output: Output
  /** Sources that report the series, the oldest first. */
  readonly told: Map<object, SourceTexts>
  /** Labels of the last report; undefined before the first. */
  reported: Labels | undefined
  reportedMs: number
  /** Changes since `hourMs`. */
  changeCount: number
  hourMs: number
}

/**
 * Makes info metrics, such as `nvml_gpu_info`, of the texts in records. When a text changes, the old series leaves
 * every view. If several sources report a series, a text of an older source counts unless it is empty.
 */
export class InfoRows implements Sink {
  readonly name = 'infos'
  readonly stats = sinkStats()
  readonly #emit: (batch: Batch) => void
  readonly #rows = new Map<string, InfoRow>()
  /** Series that their source reports as absent, by their type: so are their info metrics. */
  readonly #absent = new Set<string>()
  /** Rows to report. */
  readonly #pending = new Set<InfoRow>()
  /** Outputs by the constant labels of sources. */
  readonly #outputs = new Map<string, Output>()
  readonly #periods = new Periods()
  #sweptMs = Number.NEGATIVE_INFINITY
  #isClosed = false

  constructor(emit: (batch: Batch) => void) {
    this.#emit = emit
  }

  /** Rows that are kept, and those among them that the next evaluation reports. */
  get counts(): { readonly rows: number; readonly pending: number } {
    return { rows: this.#rows.size, pending: this.#pending.size }
  }

  accept(batch: Batch): void {
    acceptBatch(this.stats, batch, this.#isClosed ? undefined : (batch) => this.#take(batch))
  }

  async flush(): Promise<void> {
    // The next evaluation reports the rows.
  }

  async close(): Promise<void> {
    this.#isClosed = true
  }

  /** Reports rows that are new, have changed or are due. `nowMs` uses the clock of `arrivedMs` of batches. */
  evaluate(nowMs: number): void {
    if (this.#isClosed) return
    if (nowMs - this.#sweptMs >= SWEEP_EVERY_MS) this.#sweep(nowMs)
    let left = ROWS_A_CALL
    for (const row of this.#pending) {
      if (left-- === 0) break
      this.#pending.delete(row)
      this.#report(row, nowMs)
    }
    for (const { source } of this.#outputs.values()) source.emit()
  }

  #take(batch: Batch): number {
    if (batch.origin !== 'own') return 0
    this.#periods.take(batch)
    if (batch.type.fingerprint === absenceType.fingerprint) return this.#takeAbsences(batch)
    const metric = METRICS.get(batch.type.name)
    return metric === undefined ? 0 : this.#takeTexts(metric, batch)
  }

  /** Returns the number of records beyond the limit. */
  #takeTexts(metric: InfoMetric, { type, source, count, bytes, symbols, arrivedMs }: Batch): number {
    const views = viewsOf(bytes)
    const output = this.#outputFor(source)
    this.#declarePeriod(metric, output, this.#periods.longestOf(source, type))
    const slots = metric.texts.map(({ field }) => type.layout.slots.find(({ name }) => name === field))
    let refused = 0
    let beyond = 0
    for (let record = 0, at = 0; record < count; record++, at += type.layout.recordBytes) {
      const row = this.#rowOf(metric, output, labelsOf(type, source, views, at))
      if (row === undefined) {
        beyond++
        continue
      }
      const texts = slots.map((slot) =>
        slot === undefined || !isPresent(type.layout, slot, views, at)
          ? ''
          : labelText(slot, views, at, symbols).slice(0, TEXT_LENGTH_MAX),
      )
      const before = row.told.get(ownerOf(source))
      const isSame = before?.texts.every((text, i) => text === texts[i]) === true
      if (!isSame && !mayChange(row, arrivedMs)) {
        refused++
        continue
      }
      row.told.set(ownerOf(source), { texts, seenMs: arrivedMs })
      if (!isSame || arrivedMs - row.reportedMs >= REPEAT_MS) this.#pending.add(row)
    }
    countDrop(this.stats, 'info_limit', beyond)
    countDrop(this.stats, 'info_changes', refused)
    return beyond + refused
  }

  #takeAbsences({ bytes, count, symbols, source }: Batch): number {
    for (const absence of readRecords(absenceType, viewsOf(bytes), count, symbols)) {
      const metric = absence.field === '' ? METRICS.get(absence.type) : undefined
      if (metric === undefined) continue
      if (absence.code === 'gone') this.#takeGone(metric, absence.series, source)
      this.#passOn(metric, absence, source)
    }
    return 0
  }

  #takeGone(metric: InfoMetric, series: string, source: SourceInfo): void {
    const rows = series === '' ? [...this.#rows.values()] : [this.#rows.get(rowKey(metric.from, series))]
    for (const row of rows) if (row?.metric === metric && row.told.delete(ownerOf(source))) this.#pending.add(row)
  }

  /** A series that is absent with a reason has no texts, so its info metric is absent with this reason. */
  #passOn(metric: InfoMetric, { series, code, reason }: RecordOf<typeof absenceType>, source: SourceInfo): void {
    const key = rowKey(metric.from, series)
    const isAbsent = code !== '' && code !== 'gone'
    if (isAbsent) {
      // Another source may report it.
      if (this.#rows.has(key) || (this.#absent.size >= ROW_COUNT_MAX && !this.#absent.has(key))) return
      this.#absent.add(key)
    } else if (!this.#absent.delete(key)) return
    const of = { type: metric.type.name, series, field: '' }
    this.#outputFor(source).source.report(absenceType, { time: wallNs(), ...of, code, reason })
  }

  #rowOf(metric: InfoMetric, output: Output, labels: Labels): InfoRow | undefined {
    const key = rowKey(metric.from, seriesKey(labels))
    let row = this.#rows.get(key)
    if (row === undefined) {
      if (this.#rows.size >= ROW_COUNT_MAX) return undefined
      row = {
        ...{ metric, labels, output, told: new Map(), reported: undefined },
        ...{ reportedMs: Number.NEGATIVE_INFINITY, changeCount: 0, hourMs: Number.NEGATIVE_INFINITY },
      }
      this.#rows.set(key, row)
    }
    return row
  }

  /** Rows are repeated with records of their source, so those of a slow source are further apart. */
  #declarePeriod({ type }: InfoMetric, { source, periodsMs }: Output, ofSourceMs: number): void {
    const periodMs = Math.max(REPEAT_MS, ofSourceMs)
    if (periodMs <= (periodsMs.get(type) ?? 0)) return
    periodsMs.set(type, periodMs)
    source.setPeriod(type, { reportUs: periodMs * 1000 })
  }

  #outputFor({ labels }: SourceInfo): Output {
    const key = seriesKey(labels)
    let output = this.#outputs.get(key)
    if (output === undefined) {
      output = { source: createOwnSource({ id: this.name, labels, emit: this.#emit }), periodsMs: new Map() }
      this.#outputs.set(key, output)
    }
    return output
  }

  #report(row: InfoRow, nowMs: number): void {
    const { metric, output, told } = row
    const { source } = output
    const labels = told.size === 0 ? undefined : infoLabels(row)
    if (row.reported !== undefined && (labels === undefined || seriesKey(labels) !== seriesKey(row.reported)))
      reportGone(source, metric.type, row.reported)
    row.reported = labels
    row.reportedMs = nowMs
    if (labels === undefined) this.#rows.delete(rowKey(metric.from, seriesKey(row.labels)))
    else source.report(metric.type, { time: wallNs(), ...recordLabels(metric.type, labels), info: 1 } as never)
  }

  /** Drops sources that are silent. */
  #sweep(nowMs: number): void {
    this.#sweptMs = nowMs
    for (const row of this.#rows.values()) {
      for (const [owner, { seenMs }] of row.told) if (nowMs - seenMs > SILENT_MS) row.told.delete(owner)
      if (row.told.size === 0) this.#pending.add(row)
    }
  }
}

/** Counts a change of a row; false if there were too many in this hour. */
function mayChange(row: InfoRow, nowMs: number): boolean {
  if (nowMs - row.hourMs >= HOUR_MS) {
    row.hourMs = nowMs
    row.changeCount = 0
  }
  return ++row.changeCount <= CHANGES_AN_HOUR
}

function rowKey({ name }: RecordType, series: string): string {
  return `${name} ${series}`
}

/** The labels of a row in the order of its type. */
function infoLabels({ metric, labels, told }: InfoRow): Labels {
  const texts = metric.texts.map(({ label }, i) => {
    const first = told.values().find(({ texts }) => texts[i] !== '')
    return [label, first?.texts[i] ?? ''] as const
  })
  const all: Labels = { ...labels, ...Object.fromEntries(texts) }
  return Object.fromEntries(metric.type.labels.map(({ name }) => [name, labelOf(all, name)]))
}

/** Label fields of a record: those that are numbers are read as numbers. */
function recordLabels(type: RecordType, labels: Labels): Record<string, string | number> {
  return Object.fromEntries(
    type.labels.map(({ name, field }) => {
      const text = labelOf(labels, name)
      return [name, field.kind === 'symbol' || field.kind === 'char' ? text : Number(text)]
    }),
  )
}

function reportGone(source: Source, type: RecordType, labels: Labels): void {
  const series = seriesKey(mergeLabels(labels, source.info.labels))
  const reason = 'a label has another value now, or the device is gone'
  source.report(absenceType, { time: wallNs(), type: type.name, series, field: '', code: 'gone', reason })
}
