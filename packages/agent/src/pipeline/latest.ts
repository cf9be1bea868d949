import {
  absenceType,
  type Batch,
  elementsOf,
  isPresent,
  type Labels,
  type LatestSeries,
  labelsOf,
  numberAt,
  type RecordType,
  readRecords,
  SeriesIndex,
  type Slot,
  type SourceInfo,
  seriesKey,
  TURN_LIMIT_MS,
  type Views,
  viewsOf,
} from '@sonde/sdk'
import { UNTOLD_ABSENCE } from '@sonde/sdk/internal'
import type { RecentRing } from './recent.ts'
import type { KeptBatch } from './share.ts'

/** A series is live for this many periods of its source after its last sample, or as many turns. */
const LIVE_INTERVALS = 3
const LIVE_MIN_MS = 10_000

/** The latest value of every live series of a metric, or of every metric of a type. */
export function latestSeries(recent: RecentRing, wanted: { metric?: string; type?: string }): LatestSeries[] {
  const said = absences(recent)
  return recent.types().flatMap((type) => {
    if (wanted.type !== undefined && type.name !== wanted.type) return []
    const slots = type.layout.slots.filter(({ name }) => {
      const metric = type.metrics.get(name)
      return metric !== undefined && (wanted.metric === undefined || metric === wanted.metric)
    })
    return slots.length === 0 ? [] : latestOfType(recent, type, slots, said)
  })
}

function latestOfType(recent: RecentRing, type: RecordType, slots: readonly Slot[], said: SaidOf): LatestSeries[] {
  const batches = recent.batches(type)
  const newestMs = batches.at(-1)?.arrivedMs ?? 0
  const seen = new Set<string>()
  // Of a source most records are of a series that is known already: that is seen by the bytes of their labels.
  const seenOf = new Map<SourceInfo, SeriesIndex>()
  const found: LatestSeries[] = []
  for (let i = batches.length - 1; i >= 0; i--) {
    const batch = batches[i] as (typeof batches)[number]
    const longestMs = type.inTurns ? TURN_LIMIT_MS : recent.periods.longestOf(batch.source, type)
    const liveMs = Math.max(LIVE_MIN_MS, longestMs * LIVE_INTERVALS)
    if (batch.arrivedMs < newestMs - liveMs || recent.isRetired(batch.source)) continue
    const views = viewsOf(batch.bytes)
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
      const { goneMs, reasons } = said(batch)
      const allGoneMs = goneMs.get(seriesOf(type.name, '')) ?? 0
      // A device that came back has records after it was said to be gone.
      if (batch.arrivedMs <= Math.max(allGoneMs, goneMs.get(seriesOf(type.name, key)) ?? 0)) continue
      for (const slot of slots) found.push(latestOf(type, slot, labels, key, views, at, batch.toMs, reasons))
    }
  }
  return found
}

function latestOf(
  type: RecordType,
  slot: Slot,
  labels: Labels,
  key: string,
  views: Views,
  at: number,
  timeMs: number,
  reasons: ReadonlyMap<string, string>,
): LatestSeries {
  const metric = type.metrics.get(slot.name) ?? slot.name
  const { edges } = slot.field
  const bins = edges === undefined ? {} : { edges }
  if (!isPresent(type.layout, slot, views, at)) {
    const reason =
      reasons.get(absenceKey(type.name, key, slot.name)) ?? reasons.get(absenceKey(type.name, '', slot.name))
    return { metric, labels, value: null, timeMs, absent: reason ?? UNTOLD_ABSENCE, ...bins }
  }
  return { metric, labels, value: exactText(slot, views, at), timeMs, absent: '', ...bins }
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

function seriesOf(type: string, series: string): string {
  return `${type}\n${series}`
}

function absenceKey(type: string, series: string, field: string): string {
  return `${seriesOf(type, series)}\n${field}`
}

function bigintAt({ field, offset }: Slot, { data }: Views, at: number): bigint {
  return field.kind === 'u64' ? data.getBigUint64(at + offset, true) : BigInt(data.getUint32(at + offset, true))
}

/** What the absence records in the window say; the last word counts. */
interface Absent {
  /** Why a value is absent. */
  readonly reasons: ReadonlyMap<string, string>
  /** When the news arrived that a series left. */
  readonly goneMs: ReadonlyMap<string, number>
}

/** What holds for a batch: each client of the service speaks for itself alone, and for it nobody else does. */
type SaidOf = (batch: Batch) => Absent

function absences(recent: RecentRing): SaidOf {
  const nothing: Absent = { reasons: new Map(), goneMs: new Map() }
  const byClient = new Map<bigint, ReturnType<typeof noAbsences>>()
  for (const batch of recent.batches(absenceType)) {
    const speaker = batch.page?.client ?? 0n
    const said = byClient.get(speaker) ?? noAbsences()
    byClient.set(speaker, said)
    takeAbsences(batch, said)
  }
  return ({ page }) => byClient.get(page?.client ?? 0n) ?? nothing
}

function noAbsences() {
  return { reasons: new Map<string, string>(), goneMs: new Map<string, number>() }
}

function takeAbsences(
  { bytes, count, symbols, arrivedMs }: KeptBatch,
  { reasons, goneMs }: ReturnType<typeof noAbsences>,
): void {
  for (const { type, series, field, code, reason } of readRecords(absenceType, viewsOf(bytes), count, symbols)) {
    if (code === 'gone') goneMs.set(seriesOf(type, series), arrivedMs)
    else if (code === '') reasons.delete(absenceKey(type, series, field))
    else reasons.set(absenceKey(type, series, field), reason)
  }
}
