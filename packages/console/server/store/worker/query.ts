import {
  answerRequest,
  type Column,
  type MetricColumns,
  type QueryAnswer,
  type QueryRequest,
  refillExpressions,
} from '@sonde/sdk/internal'
import { binColumns } from './bin-columns.ts'
import { type FieldVersion, gather } from './gather.ts'
import { type PlannedField, queryPlan } from './plan.ts'
import { RAW, ROLLUP } from './segments.ts'
import { DAY_MS, hourStartMs } from './slots-of-time.ts'
import type { StoreFile } from './store-file.ts'

/** Answers a request from what the file holds. */
export function query(file: StoreFile, request: QueryRequest): QueryAnswer {
  // Each request has its own budget, because an earlier request may have used up the shared one.
  refillExpressions()
  const plan = queryPlan(file, request)
  return answerRequest(request, (one) => (plan.get(one) ?? []).map((field) => read(file, field, request.fromMs)))
}

/** The columns of a field, one block of series after the other. */
function read(file: StoreFile, field: PlannedField, fromMs: number): MetricColumns {
  const { type, versions, wanted, asked, isOfBins, blockCount } = field
  const { slot } = versions.at(-1) as FieldVersion
  const columns = isOfBins ? binColumns(file, wanted, asked) : rawColumns(file, wanted, blockCount)
  const notes = slot.field.role === 'bucket' ? binNotes(file, fromMs) : []
  return { type, slot, clock: 'wall', series: breathing(file, columns), notes }
}

/** The reason why bins are absent at the start of a window: roll-ups have none, and its records are deleted. */
function binNotes(file: StoreFile, fromMs: number): string[] {
  const nowMs = Date.now()
  const slot = file.segments.oldestSlot(RAW)
  const rawMs = Math.min(nowMs, slot === undefined ? nowMs : hourStartMs(slot), file.head.firstMs())
  // A file that reached its size limit lost records before they reached their age limit.
  const isCut = [...file.catalogue.types.keys()].some((type) =>
    file.segments.inRange(ROLLUP, type, fromMs, rawMs).some(({ firstMs }) => firstMs < rawMs),
  )
  const keptMs = isCut ? rawMs : nowMs - file.settings.retentionDays * DAY_MS
  if (fromMs >= keptMs) return []
  const since = new Date(keptMs).toISOString()
  return [`Bins are kept in records only, not in roll-ups: they are absent before ${since}, where records are deleted.`]
}

/** Lets the store write between two series. */
function* breathing(file: StoreFile, series: Iterable<readonly Column[]>): Generator<readonly Column[]> {
  for (const columns of series) {
    yield columns
    file.breathe()
  }
}

/** Columns of samples as they were reported. */
function* rawColumns(
  file: StoreFile,
  wanted: PlannedField['wanted'],
  blockCount: number,
): Generator<readonly Column[]> {
  for (let at = 0; at < wanted.series.length; at += blockCount) {
    const block = { ...wanted, series: wanted.series.slice(at, at + blockCount) }
    for (const samples of gather(file, block).values()) yield samples.take()
  }
}
