import {
  absenceType,
  isPresent,
  type Labels,
  labelsOf,
  numberAt,
  type RecordType,
  readRecords,
  type Slot,
  seriesKey,
  type Views,
  viewsOf,
} from '@sonde/sdk'
import type { RecentRing } from '../pipeline/recent.ts'

/** One live series with its latest value. */
export interface LatestSeries {
  readonly metric: string
  readonly labels: Labels
  /** Exact, as text; null where it is absent. */
  readonly value: string | null
  readonly timeMs: number
  /** Why it is absent; empty where it is not. */
  readonly absent: string
}

/** A series is live for this many periods of its source after its last sample. */
const LIVE_INTERVALS = 3
const LIVE_MIN_MS = 10_000

/** The latest value of every live series of a metric, or of every metric of a type. */
export function latestSeries(recent: RecentRing, wanted: { metric?: string; type?: string }): LatestSeries[] {
  const reasons = absences(recent)
  return recent.types().flatMap((type) => {
    if (wanted.type !== undefined && type.name !== wanted.type) return []
    const slots = type.layout.slots.filter(({ name }) => {
      const metric = type.metrics.get(name)
      return metric !== undefined && (wanted.metric === undefined || metric === wanted.metric)
    })
    return slots.length === 0 ? [] : latestOfType(recent, type, slots, reasons)
  })
}

function latestOfType(
  recent: RecentRing,
  type: RecordType,
  slots: readonly Slot[],
  reasons: ReadonlyMap<string, string>,
): LatestSeries[] {
  const batches = recent.batches(type)
  const newestMs = batches.at(-1)?.toMs ?? 0
  const seen = new Set<string>()
  const found: LatestSeries[] = []
  for (let i = batches.length - 1; i >= 0; i--) {
    const batch = batches[i] as (typeof batches)[number]
    if (batch.toMs < newestMs - Math.max(LIVE_MIN_MS, batch.source.intervalMs * LIVE_INTERVALS)) break
    const views = viewsOf(batch.bytes)
    for (let record = batch.count - 1; record >= 0; record--) {
      const at = record * type.layout.recordBytes
      const labels = labelsOf(type, batch.source, views, at)
      const key = seriesKey(labels)
      if (seen.has(key)) continue
      seen.add(key)
      if (reasons.has(absenceKey(type.name, key, ''))) continue
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
  if (!isPresent(type.layout, slot, views, at)) {
    const reason =
      reasons.get(absenceKey(type.name, key, slot.name)) ?? reasons.get(absenceKey(type.name, '', slot.name))
    return { metric, labels, value: null, timeMs, absent: reason ?? 'Not in the last sample.' }
  }
  return { metric, labels, value: exactText(slot, views, at), timeMs, absent: '' }
}

function exactText(slot: Slot, views: Views, at: number): string {
  if (slot.field.kind === 'u64') return String(views.data.getBigUint64(at + slot.offset, true))
  if (slot.field.kind === 'i64') return String(views.data.getBigInt64(at + slot.offset, true))
  const value = numberAt(slot, views, at)
  return Number.isFinite(value) ? String(value) : Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
}

function absenceKey(type: string, series: string, field: string): string {
  return `${type}\n${series}\n${field}`
}

/** Why values are absent, from the absence records in the window; the last word counts. */
function absences(recent: RecentRing): ReadonlyMap<string, string> {
  const reasons = new Map<string, string>()
  for (const batch of recent.batches(absenceType)) {
    for (const { type, series, field, code, reason } of readRecords(
      absenceType,
      viewsOf(batch.bytes),
      batch.count,
      batch.source.symbols,
    )) {
      const key = absenceKey(type, series, field)
      if (code === '') reasons.delete(key)
      else reasons.set(key, reason)
    }
  }
  return reasons
}
