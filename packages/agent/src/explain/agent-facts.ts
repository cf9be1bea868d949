import type {
  FailedRead,
  GpuAttribution,
  LatestSeries,
  ListedDevice,
  ListedSource,
  ListedStuckCall,
  ListedType,
  SourceAnswer,
  TargetStatus,
  TracebackAnswer,
} from '@sonde/sdk/api'

/** State of a source in a running agent. The list of sources leaves out some keys of the answer of one source. */
export type SourceFacts = Pick<ListedSource, 'name' | 'state' | 'reason' | 'lastSampleMs'> &
  Partial<Pick<SourceAnswer, 'errors' | 'found'>> & {
    readonly stuck?: readonly Pick<ListedStuckCall, 'device' | 'duty' | 'sinceMs' | 'fix'>[]
    readonly targets?: readonly Pick<TargetStatus, 'target' | 'state' | 'reason' | 'disputes' | 'disputeCount'>[]
    readonly failures?: readonly Pick<FailedRead, 'place' | 'message' | 'lastMs'>[]
  }

/** The name and the entity of a type. */
export type TypeFacts = Pick<ListedType, 'name'> & { readonly entity?: ListedType['entity'] | undefined }

/** A device in a running agent. */
export type DeviceFacts = Pick<
  ListedDevice,
  | 'id'
  | 'kind'
  | 'name'
  | 'labels'
  | 'series'
  | 'type'
  | 'source'
  | 'address'
  | 'simulated'
  | 'host'
  | 'goneMs'
  | 'goneReason'
>

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
  types(): Promise<readonly TypeFacts[]>
  /** Devices of the node, including devices that left within the last hour. */
  devices(): Promise<readonly DeviceFacts[]>
  /** How devices and apps of pods were decided, by `namespacedName`. A trial joins no pods, so it leaves this out. */
  attributions?(): Promise<ReadonlyMap<string, GpuAttribution>>
  /**
   * State of traceback, and of the rule with that name if a name is given. A trial has no rules, so it leaves this out.
   */
  traceback?(rule?: string): Promise<TracebackAnswer | undefined>
}
