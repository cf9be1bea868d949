import {
  answerRequest,
  type Column,
  elementsOf,
  type Found,
  gridOf,
  leadMs,
  longestIn,
  matcherOf,
  type QueryAnswer,
  type QueryRequest,
  type RecordType,
  SERIES_COUNT_LIMIT,
  type SeriesQuery,
  slotsOfMetric,
  tooManySeries,
  tooManyValues,
  VALUE_COUNT_LIMIT,
} from '@sonde/sdk'
import { binColumns, isForBins } from './bin-columns.ts'
import { type FieldVersion, gather, type Wanted } from './gather.ts'
import { RAW, ROLLUP, type Segment } from './segments.ts'
import { DAY_MS, hourStartMs } from './slots-of-time.ts'
import type { StoreFile } from './store-file.ts'
import type { Window } from './stored-periods.ts'

/** Answers a request from what the file holds. */
export function query(file: StoreFile, request: QueryRequest): QueryAnswer {
  const { fromMs, toMs, stepMs } = request
  checkCost(file, request)
  return answerRequest(request, (one) => find(file, one, fromMs, toMs, stepMs))
}

/** Samples of raw columns that are held at once. */
const SAMPLE_BUDGET = 4 << 20

/** Where a metric comes from: each field that bears its name, whatever the versions of its type. */
function find(file: StoreFile, query: SeriesQuery, fromMs: number, toMs: number, stepMs: number): Found[] {
  const matches = matcherOf(query.matchers)
  return [...fieldsOfMetric(file, query.metric).values()].map((versions): Found => {
    const { stored, slot } = versions.at(-1) as FieldVersion
    const ofType = versions.map((version) => version.stored)
    const intervalMs = file.intervalMsIn(ofType, { fromMs, toMs })
    const lead = leadMs(stepMs, intervalMs)
    const series = [...file.catalogue.seriesOf(stored.type.name)].filter(({ labels }) => matches(labels))
    const wanted: Wanted = { versions, series, fromMs: fromMs - lead, toMs }
    const asked = { function: query.function, stepMs, leadMs: lead, intervalMs }
    const skip = beforeLead(file, stored.type, { fromMs, toMs }, stepMs)
    const columns = isForBins(file, wanted, asked)
      ? binColumns(file, wanted, asked)
      : rawColumns(file, { ...wanted, skip })
    const notes = slot.field.role === 'bucket' ? binNotes(file, fromMs) : []
    return { type: stored.type, slot, clock: 'wall', series: breathing(file, columns), notes }
  })
}

/**
 * Leaves out segments that end before the window of their source begins, whatever the periods of others: a client may
 * name any.
 */
function beforeLead(file: StoreFile, type: RecordType, window: Window, stepMs: number): (segment: Segment) => boolean {
  const starts = new Map<number, number>()
  return ({ source, lastMs }) => {
    let startMs = starts.get(source)
    if (startMs === undefined) {
      startMs = window.fromMs - leadMs(stepMs, longestIn(file.periods.within(source, window), type))
      starts.set(source, startMs)
    }
    return lastMs <= startMs
  }
}

/**
 * Refuses before anything is read what is sure to be refused in the end: the series of which the window holds whole
 * segments times the points of the grid.
 */
function checkCost(file: StoreFile, { fromMs, toMs, stepMs, queries }: QueryRequest): void {
  const points = gridOf(fromMs, toMs, stepMs).length
  let values = 0
  for (const query of queries) {
    const series = seriesSurelyIn(file, query, fromMs, toMs)
    if (series > SERIES_COUNT_LIMIT) throw tooManySeries(query.metric)
    values += series * points
    if (values > VALUE_COUNT_LIMIT) throw tooManyValues()
  }
}

/** Series that are sure to be in the answer to a question: an optional field may be absent in all samples. */
function seriesSurelyIn(file: StoreFile, query: SeriesQuery, fromMs: number, toMs: number): number {
  const matches = matcherOf(query.matchers)
  let count = 0
  for (const versions of fieldsOfMetric(file, query.metric).values()) {
    const [first] = versions
    if (first === undefined || versions.some(({ slot }) => slot.field.optional)) continue
    const matching = [...file.catalogue.seriesOf(first.stored.type.name)].filter(({ labels }) => matches(labels))
    const rest = new Set(matching.map(({ id }) => id))
    for (const { stored } of versions) {
      for (const segment of file.segments.inRange(RAW, stored.id, fromMs, toMs)) {
        if (segment.firstMs <= fromMs || segment.lastMs > toMs) continue
        for (const id of segment.series) rest.delete(id)
      }
    }
    count += (matching.length - rest.size) * elementsOf(first.slot).length
  }
  return count
}

/** Why bins are absent at the start of a window: roll-ups keep none, and its records are deleted. */
function binNotes(file: StoreFile, fromMs: number): string[] {
  const nowMs = Date.now()
  const slot = file.segments.oldestSlot(RAW)
  const rawMs = Math.min(nowMs, slot === undefined ? nowMs : hourStartMs(slot), file.head.firstMs())
  // A file that reached its size lost records before they were old.
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
function* rawColumns(file: StoreFile, wanted: Wanted): Generator<readonly Column[]> {
  const elements = wanted.versions[0] === undefined ? 0 : elementsOf(wanted.versions[0].slot).length
  const samples = elements * wanted.versions.reduce((sum, { stored }) => sum + file.samplesIn(stored.id, wanted), 0)
  const blockCount = Math.max(1, Math.floor((SAMPLE_BUDGET * wanted.series.length) / Math.max(1, samples)))
  for (let at = 0; at < wanted.series.length; at += blockCount) {
    const block = { ...wanted, series: wanted.series.slice(at, at + blockCount) }
    for (const samples of gather(file, block).values()) yield samples.take()
  }
}

/** The versions of each field that bears a metric's name. Histograms of other edges are fields of their own. */
function fieldsOfMetric(file: StoreFile, metric: string): Map<string, FieldVersion[]> {
  const fields = new Map<string, FieldVersion[]>()
  for (const stored of file.catalogue.types.values()) {
    for (const slot of slotsOfMetric(stored.type, metric)) {
      const key = `${stored.type.name}\n${slot.name}\n${slot.field.edges ?? ''}`
      const versions = fields.get(key)
      if (versions === undefined) fields.set(key, [{ stored, slot }])
      else versions.push({ stored, slot })
    }
  }
  return fields
}
