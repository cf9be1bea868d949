import type { Absences, Labels, RecordOf, RecordType, Source } from '@sonde/sdk'
import type { SourceVersion, TargetStatus } from '@sonde/sdk/api'
import type { GenericSchema } from 'valibot'
import type { SourceExplain } from './chains/chain.ts'

/**
 * Result of a probe, which checks the hardware without sampling. `absent` is a normal state; `denied` names the missing
 * permission; `stuck`: the probe itself hangs; `failed`: an error that says nothing about the hardware, such as too
 * many open files.
 */
export type Probe =
  | { readonly state: 'present'; readonly found: string }
  | { readonly state: 'absent' | 'denied' | 'stuck' | 'failed'; readonly reason: string }

/** A recurring task that a host runs for a source. */
export interface Duty {
  /** Device that the task reads; empty if the source has no devices. */
  readonly device: string
  /** Name of the task, unique for the device: `sample`, `drain`. */
  readonly name: string
  /** Time between two calls. Unit: microseconds. Range: 1 000 to 3 600 000 000. */
  readonly everyUs: number
  /**
   * The period of the device that this task sets in `sonde_period`: sampling, draining, or reporting. Default: none of
   * them.
   */
  readonly paces?: 'sample' | 'drain' | 'report'
  /** A longer call marks its device as stuck. Unit: milliseconds. Default: `limits.source_call_ms`. */
  readonly limitMs?: number
  /** Key of the source's own option that sets `limitMs`. Default: there is none. */
  readonly limitKey?: string
  /** Calls in the same lane run one after another. Default: the device. */
  readonly lane?: string
  /** Throws if nothing could be read. */
  run(): void | Promise<void>
}

/** Reads hardware. A host schedules its duties; see ADR 13. */
export interface NodeSource {
  /**
   * Checks whether there is anything to read. Called before the first duty, and again while nothing was found or can be
   * read.
   */
  probe(): Probe | Promise<Probe>
  /**
   * Describes what it reads now, in the words of a probe. Called after each call. Default: the result of the last
   * probe.
   */
  found?(): string
  /** The present duties. Returns the same array until they change. Called after each call. */
  duties(): readonly Duty[]
  /**
   * State of its targets. Returns the same array until something changes. Called after each call. Default: no targets.
   */
  targets?(): readonly TargetStatus[]
  /**
   * A call of the device exceeded its limit: values of the device leave the views. Called again whenever the next call
   * would be due. Default: nothing is reported.
   */
  stuck?(device: string, reason: string): void
  /**
   * Answers a command; command and answer are JSON values. Default: the source has no commands.
   *
   * @throws SondeError if the command is refused.
   */
  command?(command: unknown): unknown
  /**
   * It is switched off, and not called before its next probe: reports all its series as gone, with the reason. Default:
   * the source cannot be switched off.
   */
  pause?(reason: string): void
  /** Releases all resources. May be called twice. */
  close(): void | Promise<void>
}

/** Model of a device's clock. Unit of times: nanoseconds. */
export interface DeviceClock {
  /** Adds a reading: the host's monotonic clock before, the device's clock, the host's clock after. */
  bracket(beforeNs: bigint, ticks: bigint, afterNs: bigint): void
  /** The host's monotonic time when the device's clock showed `ticks`; 0 before the first reading. */
  monoNs(ticks: bigint): bigint
  /** Wall-clock time when the device's clock showed `ticks`. */
  wallNs(ticks: bigint): bigint
  /** Largest error of both times. */
  errorNs(ticks: bigint): bigint
}

/** A ring of samples. */
export interface SampleRing {
  /** Whether rules check each new sample. */
  readonly isWatched: boolean
  /**
   * Adds packed samples with times of the host's monotonic clock, in ascending order and not older than the newest
   * sample in the ring.
   *
   * @param aheadNs How far the times are ahead of the device's clock according to its newest model. Unit: nanoseconds.
   * Default: 0.
   */
  put(bytes: Uint8Array, aheadNs?: bigint): void
  /**
   * Samples stop, because the device left or its call hangs. Events of rules on the ring end as `lost`, except for
   * rules that wait for absence. With the next sample the rules start again.
   */
  lose(): void
}

/** Interface through which a source reports; {@link Source} describes its own members. */
export interface SourceReports
  extends Pick<Source, 'info' | 'symbols' | 'setPeriod' | 'changePeriod' | 'emit' | 'flush'> {
  /** Reports a record after {@link pass}. */
  report<T extends RecordType>(type: T, record: RecordOf<T>): void
  /** Reports packed records without checking them. */
  reportPacked(type: RecordType, bytes: Uint8Array, count: number): void
  /**
   * Removes impossible values from a record and reports them as absent; undefined if a required field is impossible.
   */
  pass<T extends RecordType>(type: T, record: RecordOf<T>): RecordOf<T> | undefined
}

/**
 * Reports records of one device. Records beyond the device's budget of an interval are dropped and counted as `flood`.
 */
export interface DeviceReport {
  report<T extends RecordType>(type: T, record: RecordOf<T>): void
}

/** Locations to read a node from: the kernel's files, and the libraries of vendors. */
export interface SourcePaths {
  /** `/proc`, or a tree for tests and containers. */
  readonly procfs: string
  /** `/sys`, or a tree for tests and containers. */
  readonly sysfs: string
  /** `/dev`, or a tree for tests and containers. Default: `/dev`. */
  readonly devfs?: string
  /** `native.doca_library`. Default: the usual folders are searched. */
  readonly doca_library?: string
  /** `native.nvml_library`. Default: the usual folders are searched. */
  readonly nvml_library?: string
}

/** Start or end of an event that a source's own rule detects on a device. */
export interface SourceEdge {
  /** Name of the rule. */
  readonly rule: string
  readonly device: string
  /** Time by the host's monotonic clock. Unit: nanoseconds. */
  readonly monoNs: bigint
  /** Largest error of the time. Unit: nanoseconds. */
  readonly errorNs: bigint
  readonly isStart: boolean
  /** Whether the end was not observed, because the device left or hangs. Default: false. */
  readonly isLost?: boolean
}

/** Everything that a source receives when it is created. */
export interface SourceContext<L = unknown> {
  /** Name in the configuration; unique. */
  readonly name: string
  /** Configured time between two samples. Unit: milliseconds. */
  readonly intervalMs: number
  /**
   * Start of the agent or of another program that runs the sources; the same for all of them. Unit: ms since the Unix
   * epoch.
   */
  readonly startedMs: number
  /** Reports records; flushed at the end of a tick. */
  readonly source: SourceReports
  /** The open library of the source's host; undefined if the host has none. */
  readonly library: L
  /** Returns a reporter for one device, so that a flood of its records does not use the budget of others. */
  report(device: string): DeviceReport
  /**
   * Creates a ring of samples that stay in the host until a window is requested.
   *
   * @param records Capacity; the oldest samples leave first.
   * @throws SondeError `AGT_TAP` if its memory exceeds the limit of a host, or the type has no time.
   */
  sampled(type: RecordType, device: string, records: number): SampleRing
  /**
   * Creates the model of a device's clock. It is reported as `sonde_clock`, at most once a second.
   *
   * @param ticksPerSecond Frequency of the clock, as the device states it.
   */
  clock(device: string, clock: string, ticksPerSecond: number): DeviceClock
  /**
   * Reports an edge as `sonde_mark`, after all earlier records. A start while started and an end while ended are
   * ignored. Beyond `traceback.events_per_minute` starts of a device in a minute, edges are dropped and counted as
   * `edge_limit`. If the host is replaced while an event is open, the agent ends it as `host_replaced`.
   */
  edge(edge: SourceEdge): void
  /** Reports absent values with their reasons, and devices that are gone. */
  readonly absences: Absences
  /** Locations to read the node from. */
  readonly paths: SourcePaths
  /** Counts a failed read of present hardware; `place` is the file or call. */
  failed(place: string, error: unknown): void
  /** Counts records that the source drops because of its own limits, by reason. */
  dropped(reason: string, records: number): void
}

/** A library whose calls may hang or crash. It is opened once in a child process that its sources share. */
export interface LibraryDefinition<L = unknown> {
  /** Name of the child process; sources state it as their `host`. */
  readonly name: string
  /** Lanes with an open call at the same time. `Infinity`: one call per device, without another limit. */
  readonly parallel: number
  /** How long an open call delays other calls. Unit: milliseconds. Default: 100. */
  readonly patienceMs?: number
  /** Largest share of time that calls may take; a slow call is followed by a pause. Range: 0.01 to 1. Default: 1. */
  readonly loadShare?: number
  /**
   * Opens the library in the child.
   *
   * @param options Options of the first source that needs it.
   */
  open(options: object, paths: SourcePaths): L | Promise<L>
  /** Constant labels for everything that its sources report. Default: none. */
  labels?(library: L): Labels
  close(library: L): void | Promise<void>
}

/** Code of a source, imported when the source is configured. */
export interface LoadedSource {
  /** The library that all sources of the host share; absent for hosts without a library. */
  readonly library?: LibraryDefinition
  /** Creates the source. `options` has passed the schema. */
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

/** A row of the registry: everything known about a kind of source before it is created. */
export interface SourceDefinition {
  /** The `type` in `data_sources`, `lower_snake_case`. */
  readonly name: string
  /** One line for `sonde check` and the documentation. */
  readonly summary: string
  /** Types it reports. */
  readonly types: readonly RecordType[]
  /**
   * Where it runs. `agent`: the main loop, for a sweep under 1 ms. `worker`: a worker, above 100 Hz or for heavy
   * parsing. Otherwise the name of its library: a child process that all sources of the library share.
   */
  readonly host: 'agent' | 'worker' | (string & {})
  /**
   * Probes without foreign code, for sources that run in another process: no process is started if it finds nothing. It
   * runs in the agent's process, takes less than a millisecond, and never throws.
   */
  look?(options: object, paths: SourcePaths): Probe
  /** Paths of the libraries that its host would load, without loading them. Default: none. */
  libraries?(paths: SourcePaths): readonly string[]
  /**
   * URL of a module whose `SOURCES` contains this row. A child process imports it, so that it loads no other source.
   * Default: the registry.
   */
  readonly module?: string
  /** Default period. Unit: milliseconds. */
  readonly intervalMs: number
  /** Schema of the source's own keys in `data_sources`; `name`, `type`, `interval_ms` and `enabled` are common keys. */
  readonly options: GenericSchema<unknown, object>
  /** The chains behind its values, for `sonde explain`; absent if there are no files to check. */
  readonly explain?: SourceExplain
  /** Versions of drivers and libraries that it uses, read from files. Default: none. */
  versions?(paths: SourcePaths): Promise<readonly SourceVersion[]>
  /** Constant labels of everything that it reports. Default: none. */
  readonly labels?: Labels
  /** Returns what a user should know when the source starts, for the log; empty: nothing. Default: nothing. */
  warning?(options: object): string
  /** Whether it runs only if the configuration names it. Default: it runs if the configuration names no sources. */
  readonly isOnRequest?: true
  /**
   * Whether it reads values from other programs. It then gives up devices that sources with direct access to the
   * hardware report, and accepts the command `hold` with these devices.
   */
  readonly isSecondHand?: true
  /** Whether it is a scraper of GPUs, which people switch off and on while the agent runs. It then has `pause`. */
  readonly isSwitched?: true
  /**
   * Whether it accepts the command `gpus` with the names of the GPUs of this node, by which it resolves ids of devices.
   */
  readonly takesGpuNames?: true
  /**
   * Whether it accepts the command `pods` with the UIDs and names of the pods of this node, by which it names the
   * owners of processes.
   */
  readonly takesPodNames?: true
  /**
   * Whether `/metrics` contains its records of a type. Values that other exporters also export would count twice.
   * Default: yes.
   */
  isExported?(options: object, type: string): boolean
  /**
   * Types only for `/metrics` and destinations; history, devices, hints and pods use other types with the same values.
   * Default: none.
   */
  readonly exportTypes?: readonly RecordType[]
  /**
   * Checks combinations of options after the schema. Called before anything is opened.
   *
   * @throws SondeError with the allowed options.
   */
  refuse?(options: object): Promise<void>
  /** Imports the code of the source in its host when the source is configured. */
  load(): Promise<LoadedSource>
}
