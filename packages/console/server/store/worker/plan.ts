import type { RecordType } from '@sonde/sdk'
import {
  Candidates,
  constantLabelText,
  elementsOf,
  fieldLabelsOf,
  gridOf,
  leadMs,
  longestIn,
  type Matcher,
  matcherOf,
  passesField,
  type QueryRequest,
  SERIES_COUNT_LIMIT,
  type SeriesQuery,
  slotsOfMetric,
  tooManySeries,
  tooManyValues,
  VALUE_COUNT_LIMIT,
} from '@sonde/sdk/internal'
import { type BinRequest, blockCountOfBins, isForBins } from './bin-columns.ts'
import type { FieldVersion, GatherRequest } from './gather.ts'
import { RAW, type StoreSegment } from './segments.ts'
import type { StoredSeries } from './store-catalogue.ts'
import type { StoreFile } from './store-file.ts'
import type { PeriodSpan } from './stored-periods.ts'

/** One field with the name of a metric, in all versions of its type: the data to read for a question, and how. */
export interface PlannedField {
  readonly type: RecordType
  readonly versions: readonly FieldVersion[]
  readonly wanted: GatherRequest
  readonly asked: BinRequest
  readonly isOfBins: boolean
  /** Series that are read at a time. */
  readonly blockCount: number
}

/** Series that are scanned before the store may write new records. */
const WALK_STEP_COUNT = 256
/** Scanning one candidate takes as long as reading this many samples of a matching column. */
const SAMPLES_PER_CANDIDATE = 16
/** Samples of raw columns in memory at the same time. */
const SAMPLE_BUDGET = 4 << 20

type FieldsOf = ReadonlyMap<string, readonly (readonly FieldVersion[])[]>

/**
 * Finds the fields and series of all questions of a request. Refuses the request before it reads data if that would
 * cost too much.
 *
 * @throws SondeError `QRY_SERIES_LIMIT` or `QRY_COST_LIMIT`.
 */
export function queryPlan(file: StoreFile, request: QueryRequest): ReadonlyMap<SeriesQuery, readonly PlannedField[]> {
  const { queries } = request
  const fields = fieldsOf(file, new Set(queries.map(({ metric }) => metric)))
  const candidates = new Candidates()
  addStored(candidates, file, request, fields)
  candidates.check()
  const seriesOf = matchingSeries(file)
  const plan = new Map(
    queries.map((query) => {
      const ofQuery = fieldsOfQuery(fields, query)
      return [query, ofQuery.map((versions) => planField(file, request, query, versions, seriesOf))]
    }),
  )
  checkAnswer(file, request, plan)
  for (const [{ metric }, ofQuery] of plan)
    candidates.add(metric, Math.ceil(ofQuery.reduce((sum, field) => sum + readingOf(file, field), 0)))
  candidates.check()
  return plan
}

/**
 * The versions of each field with the name of one of the metrics. With other edges or constant labels it is another
 * field.
 */
function fieldsOf(file: StoreFile, metrics: ReadonlySet<string>): FieldsOf {
  const found = new Map<string, Map<string, FieldVersion[]>>()
  for (const stored of file.catalogue.types.values()) {
    file.breathe()
    for (const metric of new Set(stored.type.metrics.values())) {
      if (!metrics.has(metric)) continue
      const fields = found.get(metric) ?? new Map<string, FieldVersion[]>()
      found.set(metric, fields)
      for (const slot of slotsOfMetric(stored.type, metric)) {
        const key = `${stored.type.name}\n${slot.name}\n${slot.field.edges ?? ''}\n${constantLabelText(slot.field)}`
        fields.set(key, [...(fields.get(key) ?? []), { stored, slot }])
      }
    }
  }
  return new Map([...found].map(([metric, fields]) => [metric, [...fields.values()]]))
}

/** The fields of the metric of a query whose constant labels pass its matchers. */
function fieldsOfQuery(fields: FieldsOf, { metric, matchers }: SeriesQuery): readonly (readonly FieldVersion[])[] {
  return (fields.get(metric) ?? []).filter(([version]) => passesField((version as FieldVersion).slot, matchers))
}

/** Cost of the search for each question: the series of its types, once for each matcher, and their stored data. */
function addStored(candidates: Candidates, file: StoreFile, request: QueryRequest, fields: FieldsOf): void {
  const walked = new Set<string>()
  const stored = new Map<number, number>()
  const storedOf = (type: number) => {
    const known = stored.get(type) ?? file.segments.seriesIn(type, request) + file.head.candidatesIn(type, request)
    stored.set(type, known)
    return known
  }
  for (const query of request.queries) {
    const { metric, matchers } = query
    let count = 0
    for (const versions of fieldsOfQuery(fields, query)) {
      const version = versions[0] as FieldVersion
      const key = walkKey(version, matchers)
      if (!walked.has(key)) count += file.catalogue.countOf(version.stored.type.name) * Math.max(1, matchers.length)
      walked.add(key)
      for (const version of versions) count += storedOf(version.stored.id)
    }
    candidates.add(metric, count)
  }
}

function walkKey({ stored: { type }, slot }: FieldVersion, matchers: readonly Matcher[]): string {
  return `${type.name}\n${constantLabelText(slot.field)}\n${JSON.stringify(matchers)}`
}

type SeriesOf = (field: FieldVersion, matchers: readonly Matcher[]) => readonly StoredSeries[]

/** Series of a type that match. Questions of a request often have the same matchers: they share one search. */
function matchingSeries(file: StoreFile): SeriesOf {
  const known = new Map<string, readonly StoredSeries[]>()
  return (field, matchers) => {
    const key = walkKey(field, matchers)
    const found = known.get(key) ?? walk(file, field, matchers)
    known.set(key, found)
    return found
  }
}

function walk(file: StoreFile, { stored: { type }, slot }: FieldVersion, matchers: readonly Matcher[]): StoredSeries[] {
  const matches = matcherOf(matchers)
  const labelsOf = fieldLabelsOf(type, slot)
  const found: StoredSeries[] = []
  let count = 0
  for (const series of file.catalogue.seriesOf(type.name)) {
    if (matches(labelsOf(series.labels))) found.push(series)
    if (++count % WALK_STEP_COUNT === 0) file.breathe()
  }
  return found
}

function planField(
  file: StoreFile,
  { fromMs, toMs, stepMs }: QueryRequest,
  { function: fn, matchers }: SeriesQuery,
  versions: readonly FieldVersion[],
  seriesOf: SeriesOf,
): PlannedField {
  const newest = versions.at(-1) as FieldVersion
  const { type } = newest.stored
  const ofType = versions.map((version) => version.stored)
  const intervalMs = file.intervalMsIn(ofType, { fromMs, toMs })
  const lead = leadMs(stepMs, intervalMs)
  const wanted: GatherRequest = { versions, series: seriesOf(newest, matchers), fromMs: fromMs - lead, toMs }
  const asked = { function: fn, stepMs, leadMs: lead, intervalMs }
  file.breathe()
  if (isForBins(file, wanted, asked))
    return { type, versions, wanted, asked, isOfBins: true, blockCount: blockCountOfBins(wanted) }
  const skip = beforeLead(file, type, { fromMs, toMs }, stepMs)
  const blockCount = blockCountOf(file, wanted)
  return { type, versions, wanted: { ...wanted, skip }, asked, isOfBins: false, blockCount }
}

/**
 * Leaves out segments that end before the window of their source begins. The periods of other sources do not count,
 * because a client may declare any period.
 */
function beforeLead(
  file: StoreFile,
  type: RecordType,
  window: PeriodSpan,
  stepMs: number,
): (segment: StoreSegment) => boolean {
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

function blockCountOf(file: StoreFile, { versions, series, fromMs, toMs }: GatherRequest): number {
  const elements = elementsOf((versions[0] as FieldVersion).slot).length
  const samples = elements * versions.reduce((sum, { stored }) => sum + file.samplesIn(stored.id, { fromMs, toMs }), 0)
  return Math.max(1, Math.floor((SAMPLE_BUDGET * series.length) / Math.max(1, samples)))
}

/** Cost of reading the series of a field: their samples, and the head once more for each further block of series. */
function readingOf(file: StoreFile, { type, versions, wanted, isOfBins, blockCount }: PlannedField): number {
  const furtherBlocks = Math.max(0, Math.ceil(wanted.series.length / blockCount) - 1)
  const part = wanted.series.length / Math.max(1, file.catalogue.countOf(type.name))
  let count = 0
  for (const { stored } of versions) {
    count += furtherBlocks * file.head.candidatesIn(stored.id, wanted)
    if (!isOfBins) count += (part * file.samplesIn(stored.id, wanted)) / SAMPLES_PER_CANDIDATE
  }
  return count
}

/** Refuses a request that is sure to exceed the limit: series with whole segments in the window, times points. */
function checkAnswer(
  file: StoreFile,
  { fromMs, toMs, stepMs }: QueryRequest,
  plan: ReadonlyMap<SeriesQuery, readonly PlannedField[]>,
): void {
  const points = gridOf(fromMs, toMs, stepMs).length
  let values = 0
  for (const [{ metric }, fields] of plan) {
    const series = fields.reduce((sum, field) => sum + seriesSurelyIn(file, field, { fromMs, toMs }), 0)
    if (series > SERIES_COUNT_LIMIT) throw tooManySeries(metric, series)
    values += series * points
    if (values > VALUE_COUNT_LIMIT) throw tooManyValues(metric, values)
  }
}

/** Series that are sure to be in the answer: an optional field may be absent in all samples. */
function seriesSurelyIn(file: StoreFile, { versions, wanted }: PlannedField, { fromMs, toMs }: PeriodSpan): number {
  const [first] = versions
  if (first === undefined || versions.some(({ slot }) => slot.field.optional)) return 0
  const rest = new Set(wanted.series.map(({ id }) => id))
  for (const { stored } of versions) {
    for (const segment of file.segments.inRange(RAW, stored.id, fromMs, toMs)) {
      if (rest.size === 0) break
      if (segment.firstMs <= fromMs || segment.lastMs > toMs) continue
      for (const id of segment.series) rest.delete(id)
      file.breathe()
    }
  }
  return (wanted.series.length - rest.size) * elementsOf(first.slot).length
}
