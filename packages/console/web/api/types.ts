/**
 * The shapes of docs/http-api.md as the page uses them. Times are milliseconds since the Unix epoch; a u64 is a decimal
 * string.
 */

import type { Bin, HistoryStatus, Labels, Matcher, SeriesAnswer as ResultSeries } from '@sonde/sdk'
import type { NodeAnswer } from '@sonde/sdk/internal'

export type { Bin, HistoryStatus, Labels, Matcher, NodeAnswer, ResultSeries }

/** What a source is doing. */
export type SourceStateName = 'starting' | 'reading' | 'absent' | 'denied' | 'starved' | 'stuck' | 'failed'

/** A call of a source that does not come back. */
export interface StuckCallInfo {
  /** Empty if the source has no devices. */
  readonly device: string
  readonly duty: string
  readonly sinceMs: number
  readonly reason: string
  readonly fix: string
}

/** One source of `/api/v1/sources`. A time or figure that is not known yet is null. */
export interface SourceInfo {
  readonly name: string
  readonly type: string
  /** `agent`, `worker`, or the library whose child process it runs in. */
  readonly host: string
  readonly stuck: readonly StuckCallInfo[]
  readonly state: SourceStateName
  readonly reason: string
  readonly intervalMs: number
  /** What it says of its types and devices; empty names stand for all of them, null for what a device does not do. */
  readonly periods: readonly {
    readonly type: string
    readonly device: string
    readonly sampleUs: number | null
    readonly drainUs: number | null
    readonly reportUs: number
  }[]
  readonly intervalRealMs: number | null
  readonly sampleMsP99: number | null
  readonly samples: number
  readonly records: number
  readonly errors: number
  readonly overruns: number
  readonly restarts: number
  readonly dropped: Readonly<Record<string, number>>
  /** Exporters that it asks and that are not read. */
  readonly failingTargets: number
  /** GPUs and pods of which two exporters tell. */
  readonly disputes: number
  readonly lastSampleMs: number | null
  readonly types: readonly string[]
}

/** One setting of a source. */
export interface SettingInfo {
  readonly key: string
  readonly value: unknown
  /** What holds where nothing is said; null if there is no fixed value. */
  readonly fallback: unknown
  readonly allowed: string
  readonly description: string
  /** A flag, a variable, `file:line`, or `default`. */
  readonly origin: string
}

/** A place that could not be read. */
export interface FailedReadInfo {
  readonly place: string
  readonly message: string
  readonly count: number
  readonly lastMs: number
}

/** A type that a source reports, also before a record of it came. */
export interface ReportInfo {
  readonly name: string
  readonly description: string
  readonly labels: readonly string[]
  readonly fieldCount: number
}

/** The version of something that a source is read by, or why it is not known. */
export interface VersionInfo {
  readonly of: string
  readonly version: string
}

/** What a target tells of and somebody else holds. */
export interface DisputeInfo {
  readonly subject: string
  readonly key: string
  /** Address of another target, or the name of a source. */
  readonly holder: string
  readonly sinceMs: number
}

/** An exporter that a source asks. */
export interface TargetInfo {
  readonly target: string
  readonly state: 'starting' | 'reading' | 'failed' | 'stopped'
  /** Empty while it is read. */
  readonly reason: string
  readonly sinceMs: number
  /** Answers that were refused as a whole, by reason. */
  readonly refused: Readonly<Record<string, number>>
  readonly disputes: readonly DisputeInfo[]
  readonly disputeCount: number
}

/** Answer of `/api/v1/sources/:name`. */
export interface SourceDetail extends SourceInfo {
  readonly summary: string
  /** What the look at the hardware said. */
  readonly found: string
  /** Versions of what it is read by: library, driver, firmware of each device. */
  readonly versions: readonly VersionInfo[]
  /** Time spent sampling since the start. */
  readonly sampleSeconds: number
  /** The latest first. */
  readonly failures: readonly FailedReadInfo[]
  /** Exporters that it asks; none of most sources. */
  readonly targets: readonly TargetInfo[]
  readonly settings: readonly SettingInfo[]
  readonly reports: readonly ReportInfo[]
}

/** One sink of `/api/v1/sources`. */
export interface SinkInfo {
  readonly name: string
  readonly in: number
  readonly out: number
  readonly dropped: Readonly<Record<string, number>>
  /** What it says about a reason of drops, such as the words of a far end that refused records. */
  readonly causes: Readonly<Record<string, string>>
  readonly errors: number
  /** Time it has spent taking records. */
  readonly seconds: number
  /** Why it fails, as a sentence; empty while all is well. */
  readonly failing: string
}

/** A source of an application. */
export interface ClientSource {
  readonly id: string
  readonly tag: string
  /** Those that the application gave it; what else its series carry is its name and tag. */
  readonly labels: Labels
}

/** An application that reports to the agent. */
export interface ClientInfo {
  /** Of its choosing, in hex. */
  readonly client: string
  readonly program: string
  readonly pid: number
  readonly connectedMs: number
  /** Where its pages are. */
  readonly mode: 'shared' | 'inline'
  readonly sources: readonly ClientSource[]
  readonly types: readonly string[]
  readonly records: number
  /** Records that were taken and are not acknowledged. */
  readonly inFlightBytes: number
}

/** Answer of `/api/v1/sources`. */
export interface SourcesAnswer {
  readonly sources: readonly SourceInfo[]
  readonly clients: readonly ClientInfo[]
  readonly sinks: readonly SinkInfo[]
  readonly ledger: { readonly in: number; readonly out: number; readonly dropped: number }
}

/** Role of a field that can be asked for. */
export type FieldRole = 'counter' | 'gauge' | 'bucket' | 'value'

/** One field of a type. */
export interface FieldInfo {
  readonly name: string
  readonly metric: string
  readonly kind: string
  readonly role: FieldRole
  readonly unit: string
  readonly help: string
}

/** What the records of a type are about. */
export interface EntityInfo {
  readonly kind: string
  /** Labels that name it. */
  readonly key: readonly string[]
  /** Whether a series of the type means that it is there. */
  readonly defines?: true
}

/** One type of the catalogue. */
export interface TypeInfo {
  readonly name: string
  readonly description: string
  readonly labels: readonly string[]
  /** Absent if the type does not tell. */
  readonly entity?: EntityInfo
  /** Its metrics. */
  readonly fields: readonly FieldInfo[]
  /** Its texts, values and data: no query answers for them. */
  readonly records: readonly Pick<FieldInfo, 'name' | 'help'>[]
  /** Whether records of it came in the last minutes; of others the store has records. */
  readonly live: boolean
  /** The command that prints the records that are kept; empty if there is no store. */
  readonly read: string
}

/** One live series of `/api/v1/series`: `value` is null if it is absent, and `absent` says why. */
export interface SeriesValue {
  readonly metric: string
  readonly labels: Labels
  readonly value: string | null
  readonly timeMs: number
  readonly absent: string
}

/** Answer of `/api/v1/series`. */
export interface SeriesAnswer {
  readonly nowMs: number
  readonly series: readonly SeriesValue[]
}

/** What is computed over each step. */
export type QueryFunction = 'last' | 'avg' | 'min' | 'max' | 'rate' | 'increase'

/** One question of a query request. */
export interface MetricQuery {
  readonly metric: string
  readonly function: QueryFunction
  readonly matchers?: readonly Matcher[]
  readonly by?: readonly string[]
  readonly aggregate?: 'sum' | 'avg' | 'min' | 'max'
  /** With `by`: series that agree in these labels and in those of `by` become one first. */
  readonly within?: { readonly by: readonly string[]; readonly aggregate: 'sum' | 'avg' | 'min' | 'max' }
}

/** A span whose samples the stream cannot have any more, and why. */
export interface StreamGap {
  readonly fromMs: number
  readonly toMs: number
  readonly reason: string
}

/** What an answer says about one question, without its values. */
export interface ResultMeta {
  readonly metric: string
  readonly unit: string
  readonly role: FieldRole
  readonly help: string
  readonly function: QueryFunction
  readonly resolutionMs: number
  readonly clock: string
  /** Sentences on what is not in the answer, and why. */
  readonly notes: readonly string[]
}

/** Answer to one question. */
export interface QueryResult extends ResultMeta {
  readonly series: readonly ResultSeries[]
}

/** A decoded answer: all series share `times`. */
export interface QueryAnswer {
  readonly fromMs: number
  readonly toMs: number
  readonly stepMs: number
  readonly times: Float64Array
  readonly results: readonly QueryResult[]
}
