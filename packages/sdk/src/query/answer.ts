import { SondeError } from '../errors.ts'
import { fieldLabelsOf } from '../schema/constant-labels.ts'
import type { Slot } from '../schema/layout.ts'
import type { RecordType } from '../schema/record-type.ts'
import { aggregateSeries, levelsOf } from './aggregate.ts'
import type { Column } from './column.ts'
import { evaluate, gridOf } from './evaluate.ts'
import {
  type QueryAnswer,
  type QueryRequest,
  type QueryResult,
  type SeriesAnswer,
  type SeriesQuery,
  VALUE_COUNT_LIMIT,
} from './form.ts'
import { estimateIntervalMs } from './gaps.ts'
import { evaluateBins, type Histogram, joinHistograms, seriesOfBins, seriesOfQuantile } from './histogram.ts'
import { SeriesBudget } from './series-budget.ts'

/** The source of a metric's values: the type, the field, and the matching columns. */
export interface MetricColumns {
  readonly type: RecordType
  readonly slot: Slot
  readonly clock: string
  /**
   * The columns of each series: one, or for a histogram one a bin, the lowest first. Iterated once, so that a history
   * need not hold all series at the same time.
   */
  readonly series: Iterable<readonly Column[]>
  /** Sentences about parts that the history does not keep, with the reason. Default: none. */
  readonly notes?: readonly string[]
}

/** The remaining budget of a request. */
interface Budget {
  values: number
}

/** Finds the columns of a query, in steps. */
export type FindInSteps = (query: SeriesQuery) => Generator<undefined, readonly MetricColumns[]>

/**
 * Answers every query of a request with the columns of `find`, in steps. Between two steps the caller may do other
 * work.
 *
 * @throws SondeError `QRY_FORM` for the rate or increase of a gauge, or the quantile of a metric that is no histogram;
 * `QRY_SERIES_LIMIT` if a query matches too many series; `QRY_COST_LIMIT` if series times points exceed the limit.
 */
export function* answerInSteps(request: QueryRequest, find: FindInSteps): Generator<undefined, QueryAnswer> {
  const { fromMs, toMs, stepMs, queries } = request
  const times = gridOf(fromMs, toMs, stepMs)
  const budget = { values: VALUE_COUNT_LIMIT }
  const results: QueryResult[] = []
  for (const query of queries) results.push(yield* answerQuery(query, yield* find(query), times, stepMs, budget))
  return { fromMs, toMs, stepMs, times, results }
}

/** {@link answerInSteps} in one call, with the same errors. */
export function answerRequest(
  request: QueryRequest,
  find: (query: SeriesQuery) => readonly MetricColumns[],
): QueryAnswer {
  const steps = answerInSteps(request, function* (query) {
    yield
    return find(query)
  })
  return allSteps(steps)
}

/** Runs all steps and returns their result. */
export function allSteps<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

function newestOf({ function: asked, by }: SeriesQuery, { times }: Column): Pick<SeriesAnswer, 'newestMs'> {
  const newestMs = times.at(-1)
  return asked === 'last' && by === undefined && newestMs !== undefined ? { newestMs } : {}
}

/** Evaluates one query over its columns. Without columns the answer has no series; that is no error. */
function* answerQuery(
  query: SeriesQuery,
  found: readonly MetricColumns[],
  grid: Float64Array,
  stepMs: number,
  budget: Budget,
): Generator<undefined, QueryResult> {
  const first = found[0]
  checkFunction(query, found)
  const room = new SeriesBudget(query.metric)
  const series: SeriesAnswer[] = []
  const histograms: Histogram[] = []
  let resolutionMs = 0
  for (const { type, slot, series: ofField } of found) {
    const { role, edges = [] } = slot.field
    const fieldLabels = fieldLabelsOf(type, slot)
    for (const columns of ofField) {
      const [column] = columns
      if (column === undefined) continue
      if (resolutionMs === 0) resolutionMs = column.intervalMs || estimateIntervalMs(column.times)
      const labels = fieldLabels(column.labels)
      for (const _ of columns) room.take(labels)
      budget.values -= grid.length * columns.length
      if (budget.values < 0) throw tooManyValues(query.metric, VALUE_COUNT_LIMIT - budget.values)
      if (role === 'bucket') histograms.push({ labels, edges, ...evaluateBins(columns, query.function, grid, stepMs) })
      else series.push({ labels, ...evaluate(column, query.function, grid, stepMs), ...newestOf(query, column) })
      yield
    }
  }
  const ofBins = answerHistograms(query, histograms)
  return {
    metric: query.metric,
    unit: unitOf(query, first?.slot.field.unit ?? ''),
    role: first?.slot.field.role ?? '',
    help: first?.slot.field.help ?? '',
    function: query.function,
    resolutionMs,
    clock: first?.clock ?? '',
    series: [
      ...levelsOf(query).reduce<readonly SeriesAnswer[]>(
        (joined, { by, aggregate }) => aggregateSeries(joined, by, aggregate),
        series,
      ),
      ...ofBins.series,
    ],
    notes: [...new Set([...found.flatMap(({ notes = [] }) => notes), ...ofBins.notes])],
  }
}

/** The unit of an answer: the unit of the metric, or none for `count`. */
export function unitOf(query: Pick<SeriesQuery, 'by' | 'aggregate' | 'within'>, unit: string): string {
  return levelsOf(query).some(({ aggregate }) => aggregate === 'count') ? '' : unit
}

function answerHistograms(query: SeriesQuery, histograms: readonly Histogram[]): Pick<QueryResult, 'series' | 'notes'> {
  const { metric, quantile } = query
  let joined = histograms
  let isApart = false
  for (const { by, aggregate } of levelsOf(query)) {
    const level = joinHistograms(joined, by, aggregate)
    joined = level.joined
    isApart = level.isApart
  }
  const series =
    quantile === undefined
      ? joined.flatMap(seriesOfBins)
      : joined.map((histogram) => seriesOfQuantile(histogram, quantile))
  const notes = isApart ? [`Series of ${metric} have different edges; those with the same edges are joined.`] : []
  return { series, notes }
}

/** A falling gauge is no restart, so its rate has no meaning. */
function checkFunction({ metric, function: asked }: SeriesQuery, found: readonly MetricColumns[]): void {
  if (found.length === 0) return
  if (asked === 'quantile' && !found.every(({ slot }) => slot.field.role === 'bucket'))
    throw new SondeError('QRY_FORM', `${metric} is no histogram, and quantile is for histograms`)
  if (asked !== 'rate' && asked !== 'increase') return
  if (!found.every(({ slot }) => slot.field.role === 'gauge')) return
  throw new SondeError('QRY_FORM', `${metric} is a gauge, and ${asked} is for counters; allowed: last, avg, min, max`)
}

/**
 * The `QRY_COST_LIMIT` of a request for too many values.
 *
 * @param count Values of its queries up to the query of `metric`, or a part of them.
 */
export function tooManyValues(metric: string, count: number): SondeError {
  return new SondeError(
    'QRY_COST_LIMIT',
    `the request asks for ${count} values or more, series times points, with those of ${metric}; at most ${VALUE_COUNT_LIMIT} a request: take a larger stepMs, a shorter window, or add matchers`,
  )
}
