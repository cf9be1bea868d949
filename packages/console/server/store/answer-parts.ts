import type { QueryAnswer, QueryResult, SeriesAnswer } from '@sonde/sdk/internal'

/** Most series of one part: what takes them out of a message holds up the main loop. */
const SERIES_MAX = 400
/** Most values of one part: a message copies them. */
const VALUES_MAX = 250_000

/** Some series of one result of an answer. */
export interface AnswerPart {
  /** Place of the result. */
  readonly at: number
  readonly series: readonly SeriesAnswer[]
}

/** An answer that is handed over bit by bit. */
export interface ParcelledAnswer {
  readonly parts: Generator<AnswerPart, void>
  /** What comes behind the last part: the answer without the series of the parts. */
  readonly rest: QueryAnswer
}

/** How many values the series of an answer have. */
function valuesOf({ values }: SeriesAnswer): number {
  return values.length
}

/** Cuts a large answer into parts; undefined if it is small enough to go as it is. */
export function parcelled(answer: QueryAnswer): ParcelledAnswer | undefined {
  const series = answer.results.flatMap((result) => result.series)
  const values = series.reduce((sum, one) => sum + valuesOf(one), 0)
  if (series.length <= SERIES_MAX && values <= VALUES_MAX) return undefined
  const results = answer.results.map((result) => ({ ...result, series: [] }))
  return { parts: partsOf(answer.results), rest: { ...answer, results } }
}

function* partsOf(results: readonly QueryResult[]): Generator<AnswerPart, void> {
  for (const [at, { series }] of results.entries()) {
    let part: SeriesAnswer[] = []
    let values = 0
    for (const one of series) {
      if (part.length === SERIES_MAX || (part.length > 0 && values + valuesOf(one) > VALUES_MAX)) {
        yield { at, series: part }
        part = []
        values = 0
      }
      part.push(one)
      values += valuesOf(one)
    }
    if (part.length > 0) yield { at, series: part }
  }
}

/** The whole of an answer whose series came in parts, in the order in which they came. */
export function joined(rest: QueryAnswer, parts: readonly AnswerPart[]): QueryAnswer {
  const byPlace = Map.groupBy(parts, ({ at }) => at)
  const results = rest.results.map((result, at) => {
    const own = byPlace.get(at)
    return own === undefined ? result : { ...result, series: own.flatMap(({ series }) => series) }
  })
  return { ...rest, results }
}
