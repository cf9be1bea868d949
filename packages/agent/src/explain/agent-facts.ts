import type { Labels, LatestSeries, RecordType } from '@sonde/sdk'
import type { SourceState } from '../hosting/source-status.ts'
import type { ToldStuck } from '../hosting/stuck-call.ts'
import type { TargetStatus } from '../sources/source.ts'
import type { TracebackFacts } from './traceback-facts.ts'

/** How a source fares in a running agent, as `/api/v1/sources` tells it. */
export interface SourceFacts {
  readonly name: string
  readonly state: SourceState
  readonly reason: string
  /** Calls of it that do not come back. Default: there is none. */
  readonly stuck?: readonly Pick<ToldStuck, 'device' | 'duty' | 'sinceMs' | 'fix'>[]
  /** Exporters that it asks. Default: there is none. */
  readonly targets?: readonly Pick<TargetStatus, 'target' | 'state' | 'reason' | 'disputes' | 'disputeCount'>[]
  readonly lastSampleMs: number
  /** Reads that failed since the start. Default: none. */
  readonly errors?: number
  /** What it reads now, in words. Default: that is not known. */
  readonly found?: string
  /** What failed last, by its place; the latest first. Default: nothing. */
  readonly failures?: readonly { readonly place: string; readonly message: string; readonly lastMs: number }[]
}

/** A type, as far as it says what its records are about. */
export type ToldType = Pick<RecordType, 'name'> & { readonly entity?: RecordType['entity'] }

/** A device as a running agent knows it, as `/api/v1/devices` tells it. */
export interface DeviceFacts {
  readonly id: string
  readonly kind: string
  readonly name: string
  /** Labels of the series of its own kind, and of other entities that are parts of it, by kind. */
  readonly labels: Labels
  readonly series: Readonly<Record<string, Labels>>
  /** Type and source of the record that defines it. */
  readonly type: string
  readonly source: string
  /** PCI address; empty if none is known. */
  readonly address: string
  readonly simulated: boolean
  /** Name of the host that it is on. Default: that of the agent. */
  readonly host?: string
  /** When it left; absent while it is there. Unit: milliseconds since the Unix epoch. */
  readonly goneMs?: number | undefined
  /** Why it left, as its source says. */
  readonly goneReason?: string
}

/**
 * What a running agent adds to a walk: asked in its own process, or over HTTP. A trial of one source gives the same.
 */
export interface AgentFacts {
  /** Undefined if the agent does not run that source. */
  source(name: string): Promise<SourceFacts | undefined>
  /** Live series of a metric, or of every metric of a type, with reasons where values are absent. */
  series(wanted: { readonly metric: string } | { readonly type: string }): Promise<readonly LatestSeries[]>
  /** Types of which records came in the last minutes. */
  types(): Promise<readonly ToldType[]>
  /** Devices of the node, those that left it within the hour among them. */
  devices(): Promise<readonly DeviceFacts[]>
  /** How traceback fares, and the rule of that name where one is given. Absent for a trial, which has no rules. */
  traceback?(rule?: string): Promise<TracebackFacts | undefined>
}
