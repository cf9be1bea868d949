import type { LatestSeries, ListedType } from '../query/catalogue.ts'

// Answers of `GET /api/v1/types` and `GET /api/v1/series`.

/** One metric of a listed type. */
export type ListedMetric = ListedType['fields'][number]

/** What `GET /api/v1/types` answers. */
export interface TypesAnswer {
  readonly types: readonly ListedType[]
  /** Types for which the list has no room. */
  readonly leftOut: number
}

/** What `GET /api/v1/series` answers. Times are milliseconds since the Unix epoch. */
export interface LatestAnswer {
  readonly nowMs: number
  readonly series: readonly LatestSeries[]
}
