import type { Absences, Labels, RecordType, Source } from '@sonde/sdk'
import type { GenericSchema } from 'valibot'
import type { SourceExplain } from '../explain/chain.ts'

/**
 * What a look at the hardware says, without sampling. `absent` is a normal state; `denied` says what to permit;
 * `stuck`: the look itself hangs; `failed`: it could not be made, for a reason that says nothing of the hardware, such
 * as too many open files.
 */
export type Probe =
  | { readonly state: 'present'; readonly found: string }
  | { readonly state: 'absent' | 'denied' | 'stuck' | 'failed'; readonly reason: string }

/**
 * Reads hardware. The scheduler calls `open`, then `sample` once an interval, never two calls at a time, then `close`.
 */
export interface NodeSource {
  /** Opens what stays open. Throws only for what no retry can mend; absent hardware is said by `probe`. */
  open(): void | Promise<void>
  /**
   * Looks whether there is anything to read. Called before the first sample and again while it says `absent` or
   * `denied`.
   */
  probe(): Probe | Promise<Probe>
  /** Reads everything once and reports it through `context.source`. Throws when nothing at all could be read. */
  sample(): void | Promise<void>
  /** Releases everything. May be called twice, and before `open`. */
  close(): void | Promise<void>
}

/** What a source is given. */
export interface SourceContext {
  /** Name in the configuration; unique. */
  readonly name: string
  /** The SDK source to report through; flushed after every sample. */
  readonly source: Source
  /** Says which values are absent and why, and which devices are gone. */
  readonly absences: Absences
  /** Roots below which the kernel's files are read: `/proc` and `/sys`, or a tree for tests and containers. */
  readonly paths: { readonly procfs: string; readonly sysfs: string }
  /** Counts a failed read of present hardware; the place names file or call. */
  failed(place: string, error: unknown): void
  /** Counts records that the source does not make for a limit of its own, by reason. */
  dropped(reason: string, records: number): void
}

/**
 * `inline`: a sweep under 1 ms, on the main loop. `worker`: above 100 Hz or heavy parsing. `process`: everything that
 * calls vendor code.
 */
export type Placement = 'inline' | 'worker' | 'process'

/** A row of the registry: all that is known of a kind of source before one is made. */
export interface SourceDefinition {
  /** The `type` in `data_sources`, `lower_snake_case`. */
  readonly name: string
  /** One line for `sonde check` and the documentation. */
  readonly summary: string
  /** Types it reports. */
  readonly types: readonly RecordType[]
  readonly placement: Placement
  /**
   * A look without foreign code, for sources that run elsewhere: where it finds nothing, no process is started for
   * nothing. It runs in the agent's own process, takes less than a millisecond, and never throws.
   */
  look?(options: object, paths: SourceContext['paths']): Probe
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
  /** Constant labels of everything it reports; for a source that runs inline. Default: none. */
  readonly labels?: Labels
  /** Whether it runs only where the configuration names it. Default: it runs unless the configuration names others. */
  readonly isOnRequest?: true
  /**
   * Refuses options of which each passes the schema, and which do not go together. Called before anything is opened.
   *
   * @throws SondeError with what is allowed.
   */
  refuse?(options: object): void
  /** Makes one. `options` has passed the schema. */
  create(options: object, context: SourceContext): NodeSource
}
