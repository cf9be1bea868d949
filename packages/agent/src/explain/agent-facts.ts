import type { Labels, LatestSeries, RecordType } from '@sonde/sdk'
import type { SourceState } from '../hosting/source-status.ts'
import type { ToldStuck } from '../hosting/stuck-call.ts'
import type { TargetStatus } from '../sources/source.ts'
import type { TracebackFacts } from './traceback-facts.ts'

/** State of a source in a running agent, as `/api/v1/sources` reports it. */
export interface SourceFacts {
  readonly name: string
  readonly state: SourceState
  readonly reason: string
  /** Calls of the source that have not returned. Default: none. */
  readonly stuck?: readonly Pick<ToldStuck, 'device' | 'duty' | 'sinceMs' | 'fix'>[]
  /** Exporters that the source reads. Default: none. */
  readonly targets?: readonly Pick<TargetStatus, 'target' | 'state' | 'reason' | 'disputes' | 'disputeCount'>[]
  readonly lastSampleMs: number
  /** Reads that failed since the start. Default: none. */
  readonly errors?: number
  /** What the source reads now, in words. Default: unknown. */
  readonly found?: string
  /** Newest failures, each with its place; the latest first. Default: none. */
  readonly failures?: readonly { readonly place: string; readonly message: string; readonly lastMs: number }[]
}

/** The name and the entity of a type. */
export type ToldType = Pick<RecordType, 'name'> & { readonly entity?: RecordType['entity'] }

/** A device in a running agent, as `/api/v1/devices` reports it. */
export interface DeviceFacts {
  readonly id: string
  readonly kind: string
  readonly name: string
  /** Labels of the series of its own kind. */
  readonly labels: Labels
  readonly series: Readonly<Record<string, Labels>>
  /** Type and source of the record that defines it. */
  readonly type: string
  readonly source: string
  /** PCI address; empty if unknown. */
  readonly address: string
  readonly simulated: boolean
  /** Name of the device's host. Default: the agent's host. */
  readonly host?: string
  /** When it left; absent while it is present. Unit: milliseconds since the Unix epoch. */
  readonly goneMs?: number | undefined
  /** Why it left, as its source reported. */
  readonly goneReason?: string
}

/**
 * Facts that a running agent adds to a walk. They are read in its own process or over HTTP. A trial of one source has
 * the same form.
 */
export interface AgentFacts {
  /** Undefined if the agent does not run that source. */
  source(name: string): Promise<SourceFacts | undefined>
  /** Live series of a metric, or of every metric of a type, with reasons for absent values. */
  series(wanted: { readonly metric: string } | { readonly type: string }): Promise<readonly LatestSeries[]>
  /** Types with records in the last minutes. */
  types(): Promise<readonly ToldType[]>
  /** Devices of the node, including devices that left within the last hour. */
  devices(): Promise<readonly DeviceFacts[]>
  /**
   * State of traceback, and of the rule with that name if a name is given. A trial has no rules, so it leaves this out.
   */
  traceback?(rule?: string): Promise<TracebackFacts | undefined>
}
