import type { QueryAnswer, QueryResult, SeriesAnswer } from '@sonde/sdk/internal'

/** Series in one part. Deserialising more would block the main loop. */
const SERIES_MAX = 400
/** Values in one part, which are copied with the message. */
const VALUES_MAX = 250_000

/** Some series of one result of an answer. */
export interface AnswerPart {
  /** Index of the result. */
  readonly at: number
  readonly series: readonly SeriesAnswer[]
}

/** An answer that is sent in parts. */
export interface ParcelledAnswer {
  readonly parts: Generator<AnswerPart, void>
  /** Sent after the last part: the answer without the series of the parts. */
  readonly rest: QueryAnswer
}

/** The number of values in all series of an answer. */
function valuesOf({ values }: SeriesAnswer): number {
  return values.length
}

/** Cuts a large answer into parts; undefined if it is small enough for one message. */
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

/** Joins an answer whose series came in parts; they stay in the order of their arrival. */
export function joinedAnswer(rest: QueryAnswer, parts: readonly AnswerPart[]): QueryAnswer {
  const byPlace = Map.groupBy(parts, ({ at }) => at)
  const results = rest.results.map((result, at) => {
    const own = byPlace.get(at)
    return own === undefined ? result : { ...result, series: own.flatMap(({ series }) => series) }
  })
  return { ...rest, results }
}
