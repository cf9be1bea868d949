import {
  type Batch,
  isPresent,
  type Labels,
  numberAt,
  type RecordType,
  readRecord,
  type SourceInfo,
  type Views,
  viewsOf,
} from '@sonde/sdk'
import {
  elementsOf,
  fieldLabelsOf,
  type LatestSeries,
  labelsOf,
  parseSeriesKey,
  SeriesIndex,
  type Slot,
  seriesKey,
  TURN_LIMIT_MS,
  UNTOLD_ABSENCE,
} from '@sonde/sdk/internal'
import { type AbsenceReport, absenceReports } from './absence-report.ts'
import type { RecentRing } from './recent.ts'
import type { KeptBatch } from './writer-share.ts'

/** A series is live for this many periods of its source after its last sample, or as many turns. */
const LIVE_INTERVALS = 3
const LIVE_MIN_MS = 10_000
/** Series of a type that have an absence and no record: more are not listed. */
const ABSENT_SERIES_LIMIT = 1000

/** Stands for a batch of the agent's own sources. */
const OF_OWN_SOURCES: Pick<Batch, 'page'> = {}

interface MetricField {
  readonly slot: Slot
  readonly metric: string
  /** Adds the constant labels of the field. */
  readonly labelsOf: (series: Labels) => Labels
}

/**
 * The latest value of every live series of a metric, or of every metric or one field of a type. A series that its
 * source reports as absent is listed too, with the reason.
 *
 * @param declared Types of the agent's own sources, whose absent series are listed even if no record of them came.
 */
export function latestSeries(
  recent: RecentRing,
  wanted: { metric?: string; type?: string; field?: string },
  declared: readonly RecordType[] = [],
): LatestSeries[] {
  const reportOf = absenceReports(recent)
  const live = recent.types()
  const names = new Set(live.map(({ name }) => name))
  return [...live, ...declared.filter(({ name }) => !names.has(name))].flatMap((type) => {
    if (wanted.type !== undefined && type.name !== wanted.type) return []
    const fields = type.layout.slots.flatMap((slot): MetricField[] => {
      const metric = type.metrics.get(slot.name)
      if (metric === undefined || (wanted.metric !== undefined && metric !== wanted.metric)) return []
      if (wanted.field !== undefined && slot.name !== wanted.field) return []
      return [{ slot, metric, labelsOf: fieldLabelsOf(type, slot) }]
    })
    return fields.length === 0 ? [] : latestOfType(recent, type, fields, reportOf)
  })
}

function latestOfType(
  recent: RecentRing,
  type: RecordType,
  fields: readonly MetricField[],
  reportOf: ReturnType<typeof absenceReports>,
): LatestSeries[] {
  const seen = new Set<string>()
  const reports = new Set<AbsenceReport>(recent.batches(type).length > 0 ? [] : [reportOf(OF_OWN_SOURCES)])
  const found: LatestSeries[] = []
  for (const { batch, views, at, key, labels, report } of liveRecords(recent, type, { seen, reports, reportOf })) {
    for (const { slot, metric, labelsOf: labelsOfField } of fields) {
      const latest = latestOf(type, slot, key, views, at, report)
      found.push({ metric, labels: labelsOfField(labels), timeMs: batch.toMs, ...latest })
    }
  }
  for (const report of reports) found.push(...seriesWithoutRecord(type, fields, seen, report))
  return found
}

/** The newest record of a live series. */
interface LiveRecord {
  readonly batch: KeptBatch
  readonly views: Views
  readonly at: number
  /** Key of the series. */
  readonly key: string
  readonly labels: Labels
  readonly report: AbsenceReport
}

/** What a look through live records fills in. */
interface LiveLook {
  /** Keys of the series that have records. */
  readonly seen: Set<string>
  /** The reports of their sources. */
  readonly reports: Set<AbsenceReport>
  readonly reportOf: ReturnType<typeof absenceReports>
}

/** The newest record of every live series of a type. */
function* liveRecords(
  recent: RecentRing,
  type: RecordType,
  { seen, reports, reportOf }: LiveLook,
): Generator<LiveRecord> {
  const batches = recent.batches(type)
  const newestMs = batches.at(-1)?.arrivedMs ?? 0
  // Of a source most records are of a series that is known already: that is seen by the bytes of their labels.
  const seenOf = new Map<SourceInfo, SeriesIndex>()
  for (let i = batches.length - 1; i >= 0; i--) {
    const batch = batches[i] as (typeof batches)[number]
    const longestMs = type.inTurns ? TURN_LIMIT_MS : recent.periods.longestOf(batch.source, type)
    const liveMs = Math.max(LIVE_MIN_MS, longestMs * LIVE_INTERVALS)
    if (batch.arrivedMs < newestMs - liveMs || recent.isRetired(batch.source)) continue
    const views = viewsOf(batch.bytes)
    const report = reportOf(batch)
    reports.add(report)
    const index = seenOf.get(batch.source) ?? new SeriesIndex(type)
    seenOf.set(batch.source, index)
    for (let record = batch.count - 1; record >= 0; record--) {
      const at = record * type.layout.recordBytes
      if (index.find(views, at) >= 0) continue
      index.of(views, at)
      const labels = labelsOf(type, batch.source, views, at)
      const key = seriesKey(labels)
      if (seen.has(key)) continue
      seen.add(key)
      // A device that is back has records after its `gone`.
      if (batch.arrivedMs > report.goneMsOf(type.name, key)) yield { batch, views, at, key, labels, report }
    }
  }
}

/** Why the agent's own sources have no record of a type; undefined if none of them says it. */
export function absenceOfType(recent: RecentRing, type: string): string | undefined {
  return absenceReports(recent)(OF_OWN_SOURCES).reasonOf(type, '', '')
}

/**
 * The newest record of every live series of the agent's own sources with some labels: its labels, numbers and
 * characters. Absent fields are left out; other texts are not kept.
 */
export function latestRecords(recent: RecentRing, name: string, wanted: Labels): Readonly<Record<string, unknown>>[] {
  const reportOf = absenceReports(recent)
  return recent.types().flatMap((type) => {
    if (type.name !== name) return []
    const found: Readonly<Record<string, unknown>>[] = []
    for (const { batch, views, at, labels } of liveRecords(recent, type, {
      ...{ seen: new Set<string>(), reports: new Set<AbsenceReport>(), reportOf },
    })) {
      if (batch.origin !== 'own' || Object.entries(wanted).some(([label, value]) => labels[label] !== value)) continue
      found.push({ ...readRecord(type, views, at, batch.symbols), ...labels })
    }
    return found
  })
}

/** Series with an absence and without a record, such as the series of a device that does not exist. */
function seriesWithoutRecord(
  type: RecordType,
  fields: readonly MetricField[],
  seen: ReadonlySet<string>,
  report: AbsenceReport,
): LatestSeries[] {
  const found: LatestSeries[] = []
  const keys = new Set<string>()
  for (const { series, field, reason, arrivedMs } of report.ofSeries(type.name)) {
    if (seen.has(series)) continue
    if (keys.add(series).size > ABSENT_SERIES_LIMIT) break
    const labels = parseSeriesKey(series)
    for (const { slot, metric, labelsOf: labelsOfField } of fields) {
      if (field !== '' && field !== slot.name) continue
      found.push({ metric, labels: labelsOfField(labels), value: null, timeMs: arrivedMs, absent: reason })
    }
  }
  return found
}

function latestOf(
  type: RecordType,
  slot: Slot,
  key: string,
  views: Views,
  at: number,
  report: AbsenceReport,
): Pick<LatestSeries, 'value' | 'absent' | 'edges'> {
  const { edges } = slot.field
  const bins = edges === undefined ? {} : { edges }
  if (!isPresent(type.layout, slot, views, at)) {
    const absent = report.reasonOf(type.name, key, slot.name) ?? UNTOLD_ABSENCE
    return { value: null, absent, ...bins }
  }
  return { value: exactText(slot, views, at), absent: '', ...bins }
}

/** Of a histogram the count of all its bins. */
function exactText(slot: Slot, views: Views, at: number): string {
  if (slot.field.role === 'bucket') {
    const bins = elementsOf(slot).map((bin) => bigintAt(bin, views, at))
    return String(bins.reduce((sum, count) => sum + count, 0n))
  }
  if (slot.field.kind === 'u64') return String(views.data.getBigUint64(at + slot.offset, true))
  if (slot.field.kind === 'i64') return String(views.data.getBigInt64(at + slot.offset, true))
  const value = numberAt(slot, views, at)
  return Number.isFinite(value) ? String(value) : Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
}

function bigintAt({ field, offset }: Slot, { data }: Views, at: number): bigint {
  return field.kind === 'u64' ? data.getBigUint64(at + offset, true) : BigInt(data.getUint32(at + offset, true))
}
