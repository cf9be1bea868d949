import { SondeError } from '@sonde/sdk'
import type { SeriesQuery } from '@sonde/sdk/internal'
import { functionOf, type Grain, joinedExpression, pairsMs, resetsOf } from './expressions.ts'
import { literalOf, promqlDuration, quoted, selectorOf } from './promql.ts'

/** Label of the series of an answer that names their part of the expression. */
export const PART_LABEL = '__part'

/** The meaning of the series of a part. */
export interface Part {
  /** `values` of queries, cumulative `bins`, or the times of a counter's `restart`. */
  readonly kind: 'values' | 'bins' | 'restarts'
  /**
   * Positions of the queries that the part answers, by metric name of its series; by the empty text if the series have
   * no name.
   */
  readonly questions: ReadonlyMap<string, readonly number[]>
}

/** One expression that answers all queries of a request, and the meaning of its parts. */
export interface Compiled {
  readonly expression: string
  readonly parts: readonly Part[]
}

interface Draft extends Part {
  readonly expression: string
}

/**
 * Compiles queries to one expression of PromQL, so that one request asks for all of them. Queries for the last value
 * that differ only in the metric become one part, because their series keep the name. Other queries become a part each,
 * because functions over a range drop the name.
 *
 * @param isHistogram Whether a metric is stored as cumulative buckets.
 * @throws SondeError `QRY_FORM` if a query cannot be expressed in PromQL.
 */
export function compileQueries(
  queries: readonly SeriesQuery[],
  grain: Grain,
  isHistogram: (metric: string) => boolean,
): Compiled {
  const drafts: Draft[] = []
  for (const places of alike(queries, isHistogram)) {
    const [first = 0] = places
    const query = queries[first] as SeriesQuery
    if (query.function === 'quantile' || isHistogram(query.metric)) drafts.push(histogramPart(query, places, grain))
    else if (query.function === 'last') drafts.push(lastPart(queries, places, grain))
    else drafts.push(...rangeParts(query, places, grain))
  }
  const expression = taggedUnion(drafts.map((draft) => draft.expression))
  return { expression, parts: drafts.map(({ kind, questions }) => ({ kind, questions })) }
}

/** The latest value of every series of a metric, or of all metrics of a family, with its name. */
export function latestExpression(name: string, isFamily: boolean, holdMs: number): string {
  const selector = isFamily ? `{__name__=~${quoted(`${literalOf(name)}([_:].*)?`)}}` : selectorOf([name], [])
  return `last_over_time(${selector}[${promqlDuration(holdMs - 1)}])`
}

/**
 * Samples a second of the median target, as an upper bound: the number of periods between its samples, over the length
 * of the range. The densest of several ranges counts, because a server that has just started has samples in the short
 * ranges only.
 */
export function densityExpression(): string {
  const ranges = [20, 120, 600, 3600].map((seconds) => {
    const density = `quantile(0.5, count_over_time(up[${promqlDuration(seconds * 1000 - 1)}]) - 1) / ${seconds}`
    return `label_replace(${density}, "${PART_LABEL}", "${seconds}", "", "")`
  })
  return `max(${union(ranges)})`
}

/** Time of the newest sample of any target. Unit: seconds since the Unix epoch. */
export function newestExpression(): string {
  // An agent that pushes its samples has no `up`.
  return 'max(timestamp({__name__=~"up|sonde_process_uptime_seconds"}))'
}

/** Positions of queries that one part can answer: equal queries, or last values that differ only in the metric. */
function alike(queries: readonly SeriesQuery[], isHistogram: (metric: string) => boolean): number[][] {
  const groups = new Map<string, number[]>()
  for (const [place, query] of queries.entries()) {
    const isJoinable = query.function === 'last' && !isHistogram(query.metric)
    const key = JSON.stringify(isJoinable ? { ...query, metric: '' } : query)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [place])
    else group.push(place)
  }
  return [...groups.values()]
}

function lastPart(queries: readonly SeriesQuery[], places: readonly number[], grain: Grain): Draft {
  const byMetric = new Map<string, number[]>()
  for (const place of places) {
    const { metric } = queries[place] as SeriesQuery
    byMetric.set(metric, [...(byMetric.get(metric) ?? []), place])
  }
  const query = queries[places[0] ?? 0] as SeriesQuery
  const last = functionOf('last', [...byMetric.keys()], query.matchers, grain)
  return { kind: 'values', questions: byMetric, expression: joinedExpression(last, query, ['__name__']) }
}

function rangeParts(query: SeriesQuery, places: readonly number[], grain: Grain): Draft[] {
  const { metric, matchers, function: fn } = query
  const questions = new Map([['', places]])
  const values = joinedExpression(functionOf(fn, [metric], matchers, grain), query)
  const parts: Draft[] = [{ kind: 'values', questions, expression: values }]
  if (fn !== 'rate' && fn !== 'increase') return parts
  const { by } = query
  const restarts = joinedExpression(resetsOf(metric, matchers, grain), { by, aggregate: 'max' })
  return [...parts, { kind: 'restarts', questions, expression: restarts }]
}

/** Buckets are counters without their own restart mark, so restarts are taken from PromQL. */
function histogramPart(query: SeriesQuery, places: readonly number[], grain: Grain): Draft {
  const { stepMs, intervalMs } = grain
  const { metric, matchers, function: fn, aggregate, within, quantile } = query
  const unlike = [aggregate, within?.aggregate].some((how) => how === 'min' || how === 'max' || how === 'count')
  if (fn === 'min' || fn === 'max' || (query.by !== undefined && unlike)) {
    throw new SondeError(
      'QRY_FORM',
      `${metric} is a histogram of a Prometheus, whose buckets are cumulative; allowed: last, avg, rate, increase and quantile, joined by sum and avg`,
    )
  }
  const selector = selectorOf([`${metric}_bucket`], matchers)
  const pairs = `${selector}[${promqlDuration(Math.max(pairsMs(grain), 3.5 * intervalMs) - 1)}]`
  const questions = new Map([['', places]])
  if (fn === 'quantile') {
    const expression = `histogram_quantile(${quantile}, ${joinedExpression(`rate(${pairs})`, query, ['le'])})`
    return { kind: 'values', questions, expression }
  }
  const rate = fn === 'increase' ? `(rate(${pairs}) * ${stepMs / 1000})` : `rate(${pairs})`
  const isOfGain = fn === 'rate' || fn === 'increase'
  const inner = isOfGain ? rate : functionOf(fn, [`${metric}_bucket`], matchers, grain)
  return { kind: 'bins', questions, expression: joinedExpression(inner, query, ['le']) }
}

/** A union of expressions. {@link PART_LABEL} of each series holds the index of its expression. */
export function taggedUnion(expressions: readonly string[]): string {
  return union(
    expressions.map((expression, part) => `label_replace(${expression}, "${PART_LABEL}", "${part}", "", "")`),
  )
}

/** A balanced union, because each `or` copies its left side. */
function union(expressions: readonly string[]): string {
  if (expressions.length <= 1) return expressions[0] ?? ''
  const middle = expressions.length >> 1
  return `(${union(expressions.slice(0, middle))} or ${union(expressions.slice(middle))})`
}
