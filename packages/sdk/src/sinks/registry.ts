import type { InferOutput, ObjectEntries, StrictObjectSchema } from 'valibot'
import type { OnLoss } from '../delivery/ledger.ts'
import type { RecordType } from '../schema/record-type.ts'
import type { Sink } from '../sink/sink.ts'
import type { Rate } from './common-options.ts'
import { esSink } from './es/definition.ts'
import { fileSink } from './file/definition.ts'
import { filesSink } from './files/definition.ts'
import { fluentBitSink } from './fluent-bit/definition.ts'
import { influxSink } from './influx/definition.ts'
import { jsonlSink } from './jsonl/definition.ts'
import { netflowSink } from './netflow/definition.ts'
import { otlpSink } from './otlp/definition.ts'
import { remoteWriteSink } from './remote-write/definition.ts'
import { stdoutSink } from './stdout/definition.ts'

/** The result of `sonde check` for a destination. */
export interface SinkFinding {
  /** `absent`: it is made with the first record. `configured`: it was not tried. `denied`: it cannot be used. */
  readonly state: 'present' | 'absent' | 'configured' | 'denied'
  /** What and where, or why not, as a part of a sentence. No secret. */
  readonly found: string
}

/**
 * The order in which the far end gets the records that a destination was given, with its default limits. `total`: all
 * records, in the order in which they were accepted. `series`: the records of each series, by type and labels. `none`:
 * no order.
 */
export type RecordOrder = 'total' | 'series' | 'none'

/** Context that the agent or the program gives to a destination. */
export interface SinkContext {
  /** Name in statistics. */
  readonly name: string
  /** Name of the schema, for readers. */
  readonly schema: string
  /** Version of the program, for readers. */
  readonly version: string
  /** Types known before the first record. */
  readonly types: readonly RecordType[]
  /** Takes records of `sonde_loss`; left out where somebody else reports the drops of every sink. */
  readonly onLoss?: OnLoss
}

/** An option that cannot be used, because of another option or of this machine, and its allowed values. */
export interface OptionClash {
  /** As programs spell it, such as `tls.caFile`. */
  readonly key: string
  /** The fault as the predicate of a sentence, without a secret. Default: the value of the option. */
  readonly fault?: string
  readonly allowed: string
}

type OptionsOf<E extends ObjectEntries> = InferOutput<StrictObjectSchema<E, undefined>>

/** A kind of destination: a row of {@link SINKS}. */
export interface SinkDefinition<E extends ObjectEntries = ObjectEntries> {
  /** Key below `export`, in `lower_snake_case`. */
  readonly name: string
  /** What it does, as the beginning of a sentence. */
  readonly summary: string
  /** The order of records at the far end; a test of every destination proves it. */
  readonly order: RecordOrder
  /** Its own options, spelt as a program spells them; those of every destination are added. */
  readonly entries: E
  /** The same with the defaults of an agent. Default: `entries`. */
  readonly agentEntries?: E
  /** Defaults of `set` and `intervalS` in an agent. Default: all fields of every record. */
  readonly agentRate?: Rate
  /**
   * About how many bytes a sample takes on the wire without gzip or zstd, for the estimates of `sonde check`; measured
   * with a simulated node. Default: 40.
   */
  readonly sampleBytes?: number
  /** Size of a record on the wire, where a record is no set of samples. Unit: bytes. Default: that of its samples. */
  recordBytes?(type: RecordType): number
  /** Whether it keeps records itself. Default: records survive a crash only in a queue on disk. */
  readonly isDurable?: boolean
  /** Whether it can carry records of a type; others never reach it, and count nowhere. Default: it carries all. */
  carries?(type: RecordType): boolean
  /** Whether the queue of an agent is in memory too, unless it is given a folder. Default: it is on disk. */
  readonly queueIsInMemory?: boolean
  /** Finds an option that cannot be used although it is valid: it conflicts with others, or its file is missing. */
  refuse?(options: OptionsOf<E>): OptionClash | undefined
  /** Fills in defaults that depend on the machine. Default: there are none. */
  complete?(options: OptionsOf<E>): OptionsOf<E>
  /** Where it keeps things: no two destinations share that. Default: nowhere. */
  place?(options: OptionsOf<E>): string
  /** Whether it makes something of that name in its {@link place}. */
  isOwnName?(name: string): boolean
  /** Looks, before a program starts, for what would fail with every record. @throws SondeError with the cause. */
  prepare?(options: OptionsOf<E>): Promise<void>
  create(options: OptionsOf<E>, context: SinkContext): Sink
  /**
   * What is there. Changes nothing, connects nowhere, and never rejects. `place` is where it stands, such as
   * `export.files[1]`.
   */
  look(options: OptionsOf<E>, place: string): SinkFinding | Promise<SinkFinding>
  /** Opens each connection once, sends no record, and never rejects. Default: there are no connections. */
  tryConnection?(options: OptionsOf<E>): Promise<SinkFinding>
}

/** Every kind of destination that a configuration can name. */
export const SINKS: readonly SinkDefinition[] = [
  filesSink,
  fluentBitSink,
  jsonlSink,
  influxSink,
  esSink,
  otlpSink,
  remoteWriteSink,
  netflowSink,
  fileSink,
  stdoutSink,
]
