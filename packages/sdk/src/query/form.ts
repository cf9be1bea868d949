import type { Labels } from '../schema/series.ts'

/**
 * What is computed of each series over each step. `rate` is per second; it and `increase` are for counters and the bins
 * of histograms, `quantile` for histograms alone.
 */
export type QueryFunction = 'last' | 'avg' | 'min' | 'max' | 'rate' | 'increase' | 'quantile'

/** How series that share the labels of `by` become one. `count` is how many of them have a value. */
export type Aggregate = 'sum' | 'avg' | 'min' | 'max' | 'count'

/**
 * A level below `by`: series that agree in these labels and in those of `by` become one first. So the mean of a
 * service over its pods is not that over their GPUs, of which pods have different numbers.
 */
export interface Within {
  /** Labels that are kept until then, beside those of `by`. */
  readonly by: readonly string[]
  readonly aggregate: Aggregate
}

/**
 * A condition on one label; `=~` and `!~` are regular expressions anchored at both ends. A label that is not there is
 * the empty text.
 */
export interface Matcher {
  readonly label: string
  readonly op: '=' | '!=' | '=~' | '!~'
  readonly value: string
}

/** One question: which series, what of them, and how they are joined. */
export interface SeriesQuery {
  /** The metric's full name. */
  readonly metric: string
  readonly function: QueryFunction
  /** All must hold. Default: none, every series. */
  readonly matchers: readonly Matcher[]
  /** Labels to keep. Undefined: every series on its own; empty: one series of all. */
  readonly by: readonly string[] | undefined
  /** Default: `sum`. */
  readonly aggregate: Aggregate
  /** With `by` alone. Default: none, all series are joined at once. */
  readonly within?: Within
  /** Share of the observations that lie at or below the answer. Range: above 0, at most 1. With `quantile` alone. */
  readonly quantile?: number
}

/** Several questions over one window. Times in milliseconds since the Unix epoch. */
export interface QueryRequest {
  readonly fromMs: number
  readonly toMs: number
  /** Grid; a multiple of 1 ms. */
  readonly stepMs: number
  readonly queries: readonly SeriesQuery[]
}

/** A bin of a histogram: values above one edge, up to and including the other. Null if it is open. */
export interface Bin {
  readonly above: number | null
  readonly upTo: number | null
}

/** One series of an answer. A histogram has one a bin, the lowest first. */
export interface SeriesAnswer {
  readonly labels: Labels
  /** The bin whose count this is. Absent if it is not of one bin. Unit of its edges: that of the metric. */
  readonly bin?: Bin
  /** One value a time of the grid; NaN is a gap. */
  readonly values: Float64Array
  /** When the counter was seen to restart. */
  readonly resetsMs: readonly number[]
  /**
   * When the newest sample of the window was taken, of the last value of a series by itself. Absent of all others, and
   * where a history does not tell it. Unit: milliseconds since the Unix epoch.
   */
  readonly newestMs?: number
}

/** The answer to one question. */
export interface QueryResult {
  readonly metric: string
  readonly unit: string
  readonly role: string
  readonly help: string
  readonly function: QueryFunction
  /** Real distance of the samples behind the values, 0 if there are none. */
  readonly resolutionMs: number
  readonly clock: string
  readonly series: readonly SeriesAnswer[]
  /** Sentences on what is not in the answer, or not joined, and why. Empty if nothing is left out. */
  readonly notes: readonly string[]
}

/** The answer to a request: one array of times, one typed array a series. */
export interface QueryAnswer {
  readonly fromMs: number
  readonly toMs: number
  readonly stepMs: number
  readonly times: Float64Array
  readonly results: readonly QueryResult[]
}

/** Who asks over the network. Requests of one asker wait behind those of others. */
export interface Asker {
  /** Address that the request comes from. */
  readonly host: string
  /** Names the connection among those of the address: behind a proxy, and on loopback, all have one address. */
  readonly connection: string
  /** Whether nobody waits for the answer any more: then it is not made. */
  isGone(): boolean
}

/** Something that kept records and can be asked: the agent's short ring, or the console's store. */
export interface History {
  /**
   * Answers a request.
   *
   * @param asker Default: the process itself.
   * @throws SondeError `QRY_FORM` if the rate or increase of a gauge is asked for, or a quantile of anything but a
   * histogram; `QRY_SERIES_LIMIT` if a question matches too many series; `QRY_COST_LIMIT` if the answer would
   * hold too many values, or too much has to be looked through for it.
   */
  query(request: QueryRequest, asker?: Asker): Promise<QueryAnswer>
}

/** State of the store behind a {@link History}. Times in milliseconds since the Unix epoch. */
export interface HistoryStatus {
  readonly state: 'writing' | 'failing' | 'none'
  /** A sentence: why it fails, or what happened to an earlier file. Empty if there is nothing to say. */
  readonly reason: string
  /** Size on disk. Unit: bytes. */
  readonly bytes: number
  /** Start of what is kept; `null` while there is nothing. */
  readonly oldestMs: number | null
  /** Everything before this time is safe on disk; 0 before the first write. */
  readonly ackedMs: number
  /** Records that wait for the disk. Unit: bytes. */
  readonly queuedBytes: number
  /** Times a write or a read of the file failed since the start. */
  readonly errors: number
  /** Stored pieces that could not be read since the start. */
  readonly corruptChunks: number
  /** Records on disk that are not yet compacted. Unit: bytes. */
  readonly backlogBytes: number
}

/** Most questions in one request. */
export const QUERY_COUNT_LIMIT = 64
/** Most points of a series in an answer. */
export const POINT_COUNT_LIMIT = 11_000
/** Most series that one question may match; each bin of a histogram is one; one of long labels counts as several. */
export const SERIES_COUNT_LIMIT = 10_000
/** Most values, series times points, that one request may compute: 16 MB. */
export const VALUE_COUNT_LIMIT = 2_000_000
/**
 * Most series and records that are looked through for one request, whether they match or not. A series counts once for
 * each matcher of its question.
 */
export const CANDIDATE_COUNT_LIMIT = 20_000_000
