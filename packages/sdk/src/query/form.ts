import type { Labels } from '../schema/series.ts'

/**
 * The function of each series over each step. `rate` is per second. `rate` and `increase` apply to counters and the
 * bins of histograms, `quantile` only to histograms.
 */
export type QueryFunction = 'last' | 'avg' | 'min' | 'max' | 'rate' | 'increase' | 'quantile'

/** The aggregation of series with equal labels of `by`. `count` is the number of series with a value. */
export type Aggregate = 'sum' | 'avg' | 'min' | 'max' | 'count'

/**
 * A first level of aggregation: series with equal labels of `within` and `by` are aggregated first. So the mean of a
 * service can be the mean of its pods, which have different numbers of GPUs.
 */
export interface Within {
  /** Labels of the first level, beside those of `by`. */
  readonly by: readonly string[]
  readonly aggregate: Aggregate
}

/**
 * A condition on one label. `=~` and `!~` are regular expressions, anchored at both ends. A missing label is the empty
 * text.
 */
export interface Matcher {
  readonly label: string
  readonly op: '=' | '!=' | '=~' | '!~'
  readonly value: string
}

/** One query: the metric, the matchers, the function and the aggregation. */
export interface SeriesQuery {
  /** The metric's full name. */
  readonly metric: string
  readonly function: QueryFunction
  /** All must match. Default: none, every series. */
  readonly matchers: readonly Matcher[]
  /** Labels to keep. Undefined: every series alone; empty: one series of all. */
  readonly by: readonly string[] | undefined
  /** Default: `sum`. */
  readonly aggregate: Aggregate
  /** Only with `by`. Default: no first level. */
  readonly within?: Within
  /** The share of observations at or below the answer. Range: above 0, at most 1. Only with `quantile`. */
  readonly quantile?: number
}

/** Several queries over one window. Times in milliseconds since the Unix epoch. */
export interface QueryRequest {
  readonly fromMs: number
  readonly toMs: number
  /** Step of the grid; a multiple of 1 ms. */
  readonly stepMs: number
  readonly queries: readonly SeriesQuery[]
}

/** A bin of a histogram: values above the lower edge, up to and including the upper edge. Null: no edge. */
export interface Bin {
  readonly above: number | null
  readonly upTo: number | null
}

/** One series of an answer. A histogram has one series a bin, the lowest first. */
export interface SeriesAnswer {
  readonly labels: Labels
  /** The bin of the count; absent for other metrics. Unit of the edges: that of the metric. */
  readonly bin?: Bin
  /** One value for each time of the grid; NaN is a gap. */
  readonly values: Float64Array
  /** Times of restarts of the counter. */
  readonly resetsMs: readonly number[]
  /**
   * Time of the newest sample in the window, for the function `last` without aggregation. Absent for other queries, or
   * if the history does not know it. Unit: milliseconds since the Unix epoch.
   */
  readonly newestMs?: number
}

/** The answer to one query. */
export interface QueryResult {
  readonly metric: string
  readonly unit: string
  readonly role: string
  readonly help: string
  readonly function: QueryFunction
  /** Real period of the samples behind the values; 0 without samples. */
  readonly resolutionMs: number
  readonly clock: string
  readonly series: readonly SeriesAnswer[]
  /** Sentences about parts that are left out or not aggregated, with the reason. Empty if the answer is complete. */
  readonly notes: readonly string[]
}

/** The answer to a request: one array of times, and one typed array a series. */
export interface QueryAnswer {
  readonly fromMs: number
  readonly toMs: number
  readonly stepMs: number
  readonly times: Float64Array
  readonly results: readonly QueryResult[]
}

/** The sender of a request over the network. Requests of a busy asker wait behind those of others. */
export interface Asker {
  /** Address of the sender. */
  readonly host: string
  /** Identifies the connection: on loopback and behind a proxy, all connections have the same address. */
  readonly connection: string
  /** Whether the asker has gone; then the answer is not computed. */
  isGone(): boolean
}

/** A store of records that answers queries: the short ring of the agent, or the store of the console. */
export interface History {
  /**
   * Answers a request.
   *
   * @param asker Default: the process itself.
   * @throws SondeError `QRY_FORM` for the rate or increase of a gauge, or the quantile of a metric that is no
   * histogram; `QRY_SERIES_LIMIT` if a query matches too many series; `QRY_COST_LIMIT` if the answer would have too
   * many values, or too many candidates must be read.
   */
  query(request: QueryRequest, asker?: Asker): Promise<QueryAnswer>
}

/** State of the store behind a {@link History}. Times in milliseconds since the Unix epoch. */
export interface HistoryStatus {
  readonly state: 'writing' | 'failing' | 'none'
  /** A sentence about a failure, or about an earlier file. Empty if all is well. */
  readonly reason: string
  /** Size on disk. Unit: bytes. */
  readonly bytes: number
  /** Time of the oldest record; `null` without records. */
  readonly oldestMs: number | null
  /** All records before this time are safe on disk; 0 before the first write. */
  readonly ackedMs: number
  /** Size of the records that wait for the disk. Unit: bytes. */
  readonly queuedBytes: number
  /** Number of failed writes and reads since the start. */
  readonly errors: number
  /** Number of stored chunks that could not be read since the start. */
  readonly corruptChunks: number
  /** Size of the records on disk that are not yet compacted. Unit: bytes. */
  readonly backlogBytes: number
}

/** Limit of queries in one request. */
export const QUERY_COUNT_LIMIT = 64
/** Limit of points of a series in an answer. */
export const POINT_COUNT_LIMIT = 11_000
/** Limit of series of one query. Each bin of a histogram counts; a series with long labels counts as several. */
export const SERIES_COUNT_LIMIT = 10_000
/** Limit of values (series times points) of one request: 16 MB. */
export const VALUE_COUNT_LIMIT = 2_000_000
/**
 * Limit of series and records that are read for one request, matching or not. A series counts once for each matcher of
 * its query.
 */
export const CANDIDATE_COUNT_LIMIT = 20_000_000
