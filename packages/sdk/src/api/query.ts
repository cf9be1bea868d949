import type { QueryAnswer, QueryRequest, QueryResult, SeriesAnswer, SeriesQuery } from '../query/form.ts'

// What `/api/v1/query` takes and answers, and the events of `/api/v1/stream`. Times are milliseconds since the Unix
// epoch.

/** A question as a client sends it: a key with a default may be left out. */
export type MetricQuery = Pick<SeriesQuery, 'metric' | 'function'> & Partial<SeriesQuery>

/** Body of `POST /api/v1/query`. A `stepMs` of 0 lets the server choose. */
export interface QueryBody extends Pick<QueryRequest, 'fromMs' | 'toMs' | 'stepMs'> {
  readonly queries: readonly MetricQuery[]
}

/** The answer to one query, without its series. */
export type ResultMeta = Omit<QueryResult, 'series'>

/** An answer with another form of its arrays. */
interface AnswerOf<Numbers> extends Omit<QueryAnswer, 'times' | 'results'> {
  readonly times: Numbers
  readonly results: readonly (ResultMeta & {
    readonly series: readonly (Omit<SeriesAnswer, 'values'> & { readonly values: Numbers })[]
  })[]
}

/** An answer as JSON: null is a gap. */
export type JsonQueryAnswer = AnswerOf<readonly (number | null)[]>

/** The head of an answer as columns: each array stands as its length. */
export type ColumnsHead = AnswerOf<number>

/** A time span that a stream can no longer send. */
export interface StreamGap {
  readonly fromMs: number
  readonly toMs: number
  readonly reason: string
}

/** Why the server ends a stream. */
export interface StreamFault {
  readonly code: string
  readonly message: string
}
