import type { FieldClass } from '../schema/field.ts'
import type { Labels } from '../schema/series.ts'

// Answers of `GET /api/v1/sources` and `GET /api/v1/sources/:name`. Times are milliseconds since the Unix epoch.

/** State of a source. `starved`: its process waits for a processor, which says nothing about any device. */
export type SourceState = 'starting' | 'reading' | 'absent' | 'denied' | 'starved' | 'stuck' | 'failed'

/** A call of a source that took longer than its limit and has not returned. */
export interface ListedStuckCall {
  /** Device that the call asks; empty where the source has no devices. */
  readonly device: string
  /** Name of the duty. */
  readonly duty: string
  /** When the call was made. */
  readonly sinceMs: number
  /** Longest time that the call may take. Unit: milliseconds. */
  readonly limitMs: number
  /** Key of the configuration that sets the limit; empty where the source sets it. */
  readonly limitKey: string
  /** Why the call counts as stuck, as a sentence. */
  readonly reason: string
  /** What to do, as a sentence. */
  readonly fix: string
}

/** Periods of a source, for all of its types and devices or for some. */
export interface SourcePeriods {
  /** Empty: all types. */
  readonly type: string
  /** Empty: all devices. */
  readonly device: string
  /** How often the device samples by itself; null where it does not. Unit: microseconds. */
  readonly sampleUs: number | null
  /** How often its samples are read; null where the device keeps none. Unit: microseconds. */
  readonly drainUs: number | null
  /** How often records are reported. Unit: microseconds. */
  readonly reportUs: number
}

/** One source of `GET /api/v1/sources`. A time or number that is not known yet is null. */
export interface ListedSource {
  readonly name: string
  /** Its name in the registry of sources. */
  readonly type: string
  /** Where it runs: `agent`, `worker`, or the library whose child process it runs in. */
  readonly host: string
  readonly state: SourceState
  /** Why, as a sentence; empty while it reads or starts. */
  readonly reason: string
  readonly stuck: readonly ListedStuckCall[]
  /** Configured time between two samples. Unit: milliseconds. */
  readonly intervalMs: number
  readonly periods: readonly SourcePeriods[]
  /** Measured time between two samples. Unit: milliseconds. */
  readonly intervalRealMs: number | null
  /** 99th percentile of the time that a sample takes. Unit: milliseconds. */
  readonly sampleMsP99: number | null
  readonly samples: number
  readonly records: number
  readonly errors: number
  /** Calls skipped because the previous call had not ended. */
  readonly overruns: number
  readonly restarts: number
  /** Records dropped, by reason. */
  readonly dropped: Readonly<Record<string, number>>
  /** Exporters of the source that cannot be read now. */
  readonly failingTargets: number
  /** GPUs and pods that two exporters report. */
  readonly disputes: number
  readonly lastSampleMs: number | null
  /** Names of its record types. */
  readonly types: readonly string[]
}

/** Version of something that a source uses to read. */
export interface SourceVersion {
  /** Library, driver, or the firmware of a device. */
  readonly of: string
  /** The version, or why it is not known. */
  readonly version: string
}

/** Failed reads of one place: a file or a call. */
export interface FailedRead {
  readonly place: string
  /** Message of the latest failure. */
  readonly message: string
  readonly count: number
  readonly lastMs: number
}

/** A GPU or pod that two targets report; it lasts for as long as both do. */
export interface DisputeStatus {
  /** The GPU or pod. */
  readonly subject: string
  /** The claimed key: the subject itself, or another key of it, such as its node or its PCI address. */
  readonly key: string
  /** Whose records are used: address of another target, or name of a source that reads the hardware itself. */
  readonly holder: string
  readonly sinceMs: number
}

/**
 * State of one target, such as an exporter: an address that a source asks apart from others. `stopped`: it is not asked
 * for a while, because its last answer took too much processor time.
 */
export interface TargetStatus {
  /** Its address. */
  readonly target: string
  readonly state: 'starting' | 'reading' | 'failed' | 'stopped'
  /** Why; empty while it is read. */
  readonly reason: string
  /** When it came to this state. */
  readonly sinceMs: number
  /** Answers that were refused as a whole since the start, by reason. */
  readonly refused: Readonly<Record<string, number>>
  /** The first disputes. */
  readonly disputes: readonly DisputeStatus[]
  /** How many disputes there are. */
  readonly disputeCount: number
}

/** One setting of a source. */
export interface SourceSetting {
  readonly key: string
  readonly value: unknown
  /** Its default; null where there is no fixed default. */
  readonly fallback: unknown
  readonly allowed: string
  readonly description: string
  /** Where the value comes from: a flag, a variable, `file:line`, or `default`. */
  readonly origin: string
}

/** A record type that a source reports; also listed before its first record. */
export interface SourceReport {
  readonly name: string
  readonly description: string
  readonly labels: readonly string[]
  readonly fieldCount: number
}

/** What `GET /api/v1/sources/:name` answers. */
export interface SourceAnswer extends ListedSource {
  /** What the source is, as a sentence without a full stop. */
  readonly summary: string
  /** The found hardware in words; empty before any is found. */
  readonly found: string
  readonly versions: readonly SourceVersion[]
  /** Time spent on samples since the start. Unit: seconds. */
  readonly sampleSeconds: number
  /** The latest first. */
  readonly failures: readonly FailedRead[]
  /** Exporters that it asks; empty for most sources. */
  readonly targets: readonly TargetStatus[]
  readonly settings: readonly SourceSetting[]
  readonly reports: readonly SourceReport[]
}

/** A source inside an application. */
export interface ClientSource {
  readonly id: string
  readonly tag: string
  /** Labels that the application gave it; its series also carry its name and tag. */
  readonly labels: Labels
}

/** An application that reports to the agent now. */
export interface ListedClient {
  /** Id that the application chose, in hex. */
  readonly client: string
  readonly program: string
  readonly pid: number
  readonly version: string
  readonly connectedMs: number
  /** How its pages reach the agent: in a file that both have open, or in the socket. */
  readonly mode: 'shared' | 'inline'
  readonly sources: readonly ClientSource[]
  readonly types: readonly string[]
  readonly pages: number
  readonly records: number
  readonly bytes: number
  /** Records that arrived and are not acknowledged yet. Unit: bytes. */
  readonly inFlightBytes: number
  /** The last acknowledged page: a u64 as decimal text. */
  readonly acked: string
}

/** One sink of `GET /api/v1/sources`. Counts are records since the start. */
export interface ListedSink {
  readonly name: string
  /** The class of the fields that it is given: `full` is all. */
  readonly set: FieldClass
  /** Interval of which it is given the last record of each series; 0 is every record. Unit: seconds. */
  readonly intervalS: number
  /** Records that the interval let go, before `in`; absent if it is given every record. */
  readonly thinned?: number
  readonly in: number
  readonly out: number
  /** By reason. */
  readonly dropped: Readonly<Record<string, number>>
  /** Part of `dropped` that other sinks keep, by reason. */
  readonly hidden: Readonly<Record<string, number>>
  /** Words for a reason of drops, such as the answer of a peer that refused records. */
  readonly causes: Readonly<Record<string, string>>
  /** Records that wait or are being sent; absent if the sink does not say. */
  readonly queuedRecords?: number
  /** Size of these records. Unit: bytes. */
  readonly queuedBytes?: number
  /** Age of the oldest of these records, 0 without any; absent if it is not known. Unit: seconds. */
  readonly lagS?: number
  /** Why the far end gets an older version of the protocol than configured; absent while it gets the configured. */
  readonly fallback?: string
  /** Part of `out` that it already had. */
  readonly duplicates: number
  readonly errors: number
  /** Time spent on taking records. Unit: seconds. */
  readonly seconds: number
  /** Why it fails, as a sentence; empty while it works. */
  readonly failing: string
}

/** What `GET /api/v1/sources` answers. */
export interface SourcesAnswer {
  readonly sources: readonly ListedSource[]
  readonly clients: readonly ListedClient[]
  readonly sinks: readonly ListedSink[]
  /** Every record of every source: `in` is `out` and `dropped`. */
  readonly ledger: { readonly in: number; readonly out: number; readonly dropped: number }
}
