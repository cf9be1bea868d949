import type { Absences, Labels, RecordOf, RecordType, Source } from '@sonde/sdk'
import type { SourceVersion, TargetStatus } from '@sonde/sdk/api'
import type { GenericSchema } from 'valibot'
import type { SourceExplain } from './chains/chain.ts'

/**
 * What a look at the hardware says, without sampling. `absent` is a normal state; `denied` says what to permit;
 * `stuck`: the look itself hangs; `failed`: it could not be made, for a reason that says nothing of the hardware, such
 * as too many open files.
 */
export type Probe =
  | { readonly state: 'present'; readonly found: string }
  | { readonly state: 'absent' | 'denied' | 'stuck' | 'failed'; readonly reason: string }

/** What a host does for a source again and again. */
export interface Duty {
  /** Device that is asked; empty if the source has none. */
  readonly device: string
  /** What is done, unique for the device: `sample`, `drain`. */
  readonly name: string
  /** Time between two calls. Unit: microseconds. Range: 1 000 to 3 600 000 000. */
  readonly everyUs: number
  /**
   * Which period of its device this is, in `sonde_period`: how often the device is sampled, its samples are drained, or
   * its records are reported. Default: none of them.
   */
  readonly paces?: 'sample' | 'drain' | 'report'
  /**
   * A call that takes longer marks its device as stuck. Unit: milliseconds. Default: `limits.source_call_ms`.
   */
  readonly limitMs?: number
  /** Key of the source's own options that sets `limitMs`. Default: none does. */
  readonly limitKey?: string
  /** Calls of one lane are made one after another. Default: the device. */
  readonly lane?: string
  /** Throws where nothing at all could be read. */
  run(): void | Promise<void>
}

/** Reads hardware. A host schedules its duties; see ADR 13. */
export interface NodeSource {
  /**
   * Looks whether there is anything to read. Called before the first duty and again while there is not, or nothing can
   * be read.
   */
  probe(): Probe | Promise<Probe>
  /** What it reads now, in words, as a probe says it; asked after each call. Default: what the last probe said. */
  found?(): string
  /** What is to be done. The same array for as long as nothing changes; asked after each call. */
  duties(): readonly Duty[]
  /**
   * How its targets fare. The same array for as long as nothing changes; asked after each call. Default: it has none.
   */
  targets?(): readonly TargetStatus[]
  /**
   * A call of the device is over its limit: what is known of the device leaves the views. Called again at each time
   * that the next call would be due. Default: nothing is reported.
   */
  stuck?(device: string, reason: string): void
  /**
   * Answers a command; command and answer can be written as JSON. Default: the source has none.
   *
   * @throws SondeError if it is refused.
   */
  command?(command: unknown): unknown
  /** Releases everything. May be called twice. */
  close(): void | Promise<void>
}

/** The model of a clock of a device. Unit of times: nanoseconds. */
export interface DeviceClock {
  /** Takes a reading: the host's monotonic clock before, the device clock, the host's clock after. */
  bracket(beforeNs: bigint, ticks: bigint, afterNs: bigint): void
  /** The host's monotonic clock when the device clock showed `ticks`; 0 before the first reading. */
  monoNs(ticks: bigint): bigint
  /** The same by the wall clock. */
  wallNs(ticks: bigint): bigint
  /** How far off both are at most. */
  errorNs(ticks: bigint): bigint
}

/** A ring of samples. */
export interface SampleRing {
  /** Whether rules look at each sample as it comes. */
  readonly isWatched: boolean
  /**
   * Takes packed samples whose time is the host's monotonic clock, in the order of their times, none older than one
   * that it has.
   *
   * @param aheadNs How far their times are ahead of what the clock of the device says by now, as it is known better
   * than before. Unit: nanoseconds. Default: 0.
   */
  put(bytes: Uint8Array, aheadNs?: bigint): void
  /**
   * Samples do not come any more: the device left, or a call of it hangs. Events of rules on the ring end as `lost`,
   * but for rules that wait for absence. With the next sample rules begin anew.
   */
  lose(): void
}

/** What a source reports through; {@link Source} says what the members do that are its own. */
export interface SourceReports
  extends Pick<Source, 'info' | 'symbols' | 'setPeriod' | 'changePeriod' | 'emit' | 'flush'> {
  /** Reports a record that {@link pass} passes. */
  report<T extends RecordType>(type: T, record: RecordOf<T>): void
  /** Reports packed records, which are not looked at. */
  reportPacked(type: RecordType, bytes: Uint8Array, count: number): void
  /**
   * A record without the values that no hardware can have, which are said to be absent; undefined if it cannot be
   * without such a value.
   */
  pass<T extends RecordType>(type: T, record: RecordOf<T>): RecordOf<T> | undefined
}

/** Where records of one device go; what exceeds its budget of an interval is dropped and counted as `flood`. */
export interface DeviceReport {
  report<T extends RecordType>(type: T, record: RecordOf<T>): void
}

/** Where a node is read: the kernel's files, and the libraries of vendors. */
export interface SourcePaths {
  /** `/proc`, or a tree for tests and containers. */
  readonly procfs: string
  /** `/sys`, or a tree for tests and containers. */
  readonly sysfs: string
  /** `/dev`, or a tree for tests and containers. Default: `/dev`. */
  readonly devfs?: string
  /** `native.doca_library`. Default: it is looked for. */
  readonly doca_library?: string
  /** `native.nvml_library`. Default: it is looked for. */
  readonly nvml_library?: string
}

/** The start or the end of what a rule of a source sees on a device. */
export interface SourceEdge {
  /** Name of the rule. */
  readonly rule: string
  readonly device: string
  /** When it was, by the host's monotonic clock. Unit: nanoseconds. */
  readonly monoNs: bigint
  /** How far off that is at most. Unit: nanoseconds. */
  readonly errorNs: bigint
  readonly isStart: boolean
  /** An end that nobody saw: the device left or hangs. Default: false. */
  readonly isLost?: boolean
}

/** What a source is given. */
export interface SourceContext<L = unknown> {
  /** Name in the configuration; unique. */
  readonly name: string
  /** Configured time between two samples. Unit: milliseconds. */
  readonly intervalMs: number
  /** When the agent started, or whoever runs the source: the same for all sources. Unit: ms since the Unix epoch. */
  readonly startedMs: number
  /** What it reports through; flushed when the calls of a tick are done. */
  readonly source: SourceReports
  /** What the library of the source's host opened; undefined if it has none. */
  readonly library: L
  /** Where the records of one device go, so that a flood of it takes nothing from the others. */
  report(device: string): DeviceReport
  /**
   * A ring of samples that stay in the host until somebody asks for a window.
   *
   * @param records Samples that it holds; the oldest leave first.
   * @throws SondeError `AGT_TAP` if the memory for it is more than a host may take, or the type has no time.
   */
  sampled(type: RecordType, device: string, records: number): SampleRing
  /**
   * The model of a clock of a device. It is reported as `sonde_clock`, at most once a second.
   *
   * @param ticksPerSecond Frequency of the clock, as the device states it.
   */
  clock(device: string, clock: string, ticksPerSecond: number): DeviceClock
  /**
   * Reports an edge as `sonde_mark`, behind all records before it. A start of what has started, and an end of what has
   * not, are ignored. Beyond `traceback.events_per_minute` starts of a device in a minute, edges are dropped and
   * counted as `edge_limit`. An event that is open when its host is replaced ends in the agent, as `host_replaced`.
   */
  edge(edge: SourceEdge): void
  /** Says which values are absent and why, and which devices are gone. */
  readonly absences: Absences
  /** Where the node is read. */
  readonly paths: SourcePaths
  /** Counts a failed read of present hardware; the place names file or call. */
  failed(place: string, error: unknown): void
  /** Counts records that the source does not make for a limit of its own, by reason. */
  dropped(reason: string, records: number): void
}

/** A library of calls that may hang or crash: opened once in a child process, and shared by its sources. */
export interface LibraryDefinition<L = unknown> {
  /** Name of its child; `host` of its sources. */
  readonly name: string
  /** Lanes that may have a call open at once. `Infinity`: one call a device, and no other limit. */
  readonly parallel: number
  /** For how long an open call keeps others from starting. Unit: milliseconds. Default: 100. */
  readonly patienceMs?: number
  /** Share of the time that calls take at most; a slow call is followed by a rest. Range: 0.01 to 1. Default: 1. */
  readonly loadShare?: number
  /**
   * Opens it, in the child.
   *
   * @param options Options of the source that needs it first.
   */
  open(options: object, paths: SourcePaths): L | Promise<L>
  /** Constant labels of everything that its sources report. Default: none. */
  labels?(library: L): Labels
  close(library: L): void | Promise<void>
}

/** What is imported once a source is configured. */
export interface LoadedSource {
  /** The library that all sources of the host share; left out where the host is none of a library. */
  readonly library?: LibraryDefinition
  /** Makes one. `options` has passed the schema. */
  create(options: object, context: SourceContext): NodeSource
}

/** A source as it is configured. */
export interface ConfiguredSource {
  readonly name: string
  readonly definition: SourceDefinition
  readonly intervalMs: number
  /** The source's own keys. */
  readonly options: object
}

/** A row of the registry: all that is known of a kind of source before one is made. */
export interface SourceDefinition {
  /** The `type` in `data_sources`, `lower_snake_case`. */
  readonly name: string
  /** One line for `sonde check` and the documentation. */
  readonly summary: string
  /** Types it reports. */
  readonly types: readonly RecordType[]
  /**
   * Where it runs. `agent`: a sweep under 1 ms, on the main loop. `worker`: above 100 Hz or heavy parsing. Else the
   * name of its library, in a child process that all sources of the library share.
   */
  readonly host: 'agent' | 'worker' | (string & {})
  /**
   * A look without foreign code, for sources that run elsewhere: where it finds nothing, no process is started for
   * nothing. It runs in the agent's own process, takes less than a millisecond, and never throws.
   */
  look?(options: object, paths: SourcePaths): Probe
  /** Paths of the libraries that its host would load, found without loading any. Default: there are none. */
  libraries?(paths: SourcePaths): readonly string[]
  /**
   * URL of a module whose `SOURCES` holds this row: what a child process imports, so that it holds this source and no
   * other. Default: the registry.
   */
  readonly module?: string
  /** Period where the configuration gives none. Unit: milliseconds. */
  readonly intervalMs: number
  /** Schema of the source's own keys in `data_sources`, beside `name`, `type`, `interval_ms` and `enabled`. */
  readonly options: GenericSchema<unknown, object>
  /** The chains behind its values, for `sonde explain`; left out where there is no file to look at. */
  readonly explain?: SourceExplain
  /** Versions of what it is read by, looked up in files. Default: none are told. */
  versions?(paths: SourcePaths): Promise<readonly SourceVersion[]>
  /** Constant labels of everything it reports. Default: none. */
  readonly labels?: Labels
  /** Whether it runs only if the configuration names it. Default: it runs unless the configuration names others. */
  readonly isOnRequest?: true
  /**
   * Whether it reads what others tell of devices: it gives way to sources that read the hardware themselves, and takes
   * the command `hold` with what these hold.
   */
  readonly isSecondHand?: true
  /**
   * Whether its records of a type, by name, are in `/metrics`: what others export too counts twice there. Default: they
   * are.
   */
  isExported?(options: object, type: string): boolean
  /**
   * Types for `/metrics` and destinations alone: history, devices, hints and pods have the same values as records of
   * other types. Default: none.
   */
  readonly exportTypes?: readonly RecordType[]
  /**
   * Refuses options of which each passes the schema, and which do not go together. Called before anything is opened.
   *
   * @throws SondeError with what is allowed.
   */
  refuse?(options: object): Promise<void>
  /** Imports what makes one, in the host, when a source of this kind is configured. */
  load(): Promise<LoadedSource>
}
