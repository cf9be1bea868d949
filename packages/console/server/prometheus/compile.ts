import { SondeError } from '@sonde/sdk'
import type { SeriesQuery } from '@sonde/sdk/internal'
import { functionOf, type Grain, joined, pairsMs, resetsOf } from './expressions.ts'
import { literalOf, quoted, selectorOf, spanOf } from './promql.ts'

/** Label of the series of an answer that says which part of the expression they are of. */
export const PART_LABEL = '__part'

/** What the series of a part are. */
export interface Part {
  /** `values` of questions, `bins` that are cumulative, or when counters were seen to `restart`. */
  readonly kind: 'values' | 'bins' | 'restarts'
  /**
   * Places of the questions that it answers, by the metric that its series are named after; by the empty text where
   * they have no name.
   */
  readonly questions: ReadonlyMap<string, readonly number[]>
}

/** One expression that answers all questions of a request, and what its parts are. */
export interface Compiled {
  readonly expression: string
  readonly parts: readonly Part[]
}

interface Draft extends Part {
  readonly expression: string
}

/**
 * Compiles questions to one expression of PromQL, so that one request asks for all of them. Questions that ask for the
 * last value, and differ in the metric alone, become one part: their series keep the name. Others become a part each:
 * functions over a range drop it.
 *
 * @param isHistogram Whether a metric is kept as cumulative buckets.
 * @throws SondeError `QRY_FORM` if a question cannot be asked in PromQL.
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
  return `last_over_time(${selector}[${spanOf(holdMs - 1)}])`
}

/**
 * Samples a second that the middle one of all targets has, and not more: so many periods lie between its samples in
 * each of some ranges, of which the densest counts. A server that has just started knows the short ones alone.
 */
export function densityExpression(): string {
  const ranges = [20, 120, 600, 3600].map((seconds) => {
    const density = `quantile(0.5, count_over_time(up[${spanOf(seconds * 1000 - 1)}]) - 1) / ${seconds}`
    return `label_replace(${density}, "${PART_LABEL}", "${seconds}", "", "")`
  })
  return `max(${union(ranges)})`
}

/** When the newest sample of any target was taken. Unit: seconds since the Unix epoch. */
export function newestExpression(): string {
  // An agent that sends its samples has no `up`.
  return 'max(timestamp({__name__=~"up|sonde_process_uptime_seconds"}))'
}

/** Places of questions that one part can answer: the same question, or last values that differ in the metric alone. */
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
  return { kind: 'values', questions: byMetric, expression: joined(last, query, ['__name__']) }
}

function rangeParts(query: SeriesQuery, places: readonly number[], grain: Grain): Draft[] {
  const { metric, matchers, function: fn } = query
  const questions = new Map([['', places]])
  const values = joined(functionOf(fn, [metric], matchers, grain), query)
  const parts: Draft[] = [{ kind: 'values', questions, expression: values }]
  if (fn !== 'rate' && fn !== 'increase') return parts
  const { by } = query
  const restarts = joined(resetsOf(metric, matchers, grain), { by, aggregate: 'max' })
  return [...parts, { kind: 'restarts', questions, expression: restarts }]
}

/** Buckets are counters that know no restart of their own: what PromQL says of them is told. */
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
  const pairs = `${selector}[${spanOf(Math.max(pairsMs(grain), 3.5 * intervalMs) - 1)}]`
  const questions = new Map([['', places]])
  if (fn === 'quantile') {
    const expression = `histogram_quantile(${quantile}, ${joined(`rate(${pairs})`, query, ['le'])})`
    return { kind: 'values', questions, expression }
  }
  const rate = fn === 'increase' ? `(rate(${pairs}) * ${stepMs / 1000})` : `rate(${pairs})`
  const isOfGain = fn === 'rate' || fn === 'increase'
  const inner = isOfGain ? rate : functionOf(fn, [`${metric}_bucket`], matchers, grain)
  return { kind: 'bins', questions, expression: joined(inner, query, ['le']) }
}

/** A union of expressions; each series has in {@link PART_LABEL} the place of the expression that it is of. */
export function taggedUnion(expressions: readonly string[]): string {
  return union(
    expressions.map((expression, part) => `label_replace(${expression}, "${PART_LABEL}", "${part}", "", "")`),
  )
}

/** A balanced union: each `or` copies what stands to its left. */
function union(expressions: readonly string[]): string {
  if (expressions.length <= 1) return expressions[0] ?? ''
  const middle = expressions.length >> 1
  return `(${union(expressions.slice(0, middle))} or ${union(expressions.slice(middle))})`
}
