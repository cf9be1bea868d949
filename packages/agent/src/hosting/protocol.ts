import type { Clock, Labels, TypeDefinition } from '@sonde/sdk'
import type { FailedRead, SourceState, TargetStatus } from '@sonde/sdk/api'
import type { SaidWatch } from '../rules/watch.ts'
import type { SourcePaths } from '../sources/source.ts'
import type { HostEdge } from './edge-gate.ts'
import type { SampleCall } from './source-stats.ts'
import type { StuckCall } from './stuck-call.ts'

/** What a host needs to make a source. */
export interface HostedConfig {
  /** URL of the module whose `SOURCES` holds the definition. */
  readonly module: string
  readonly name: string
  /** Name of the definition. */
  readonly type: string
  readonly options: object
  readonly intervalMs: number
  readonly paths: SourcePaths
  /** What a device may report in an interval. Unit: bytes of records. */
  readonly floodBytes: number
  /** Longest that a call may take where its duty does not say. Unit: milliseconds. */
  readonly callLimitMs: number
  /** Slot of the numbers of its events; see `EVENT_SLOTS`. Default: 0. */
  readonly eventSlot?: number
  /** Events that may start of one device in a minute. Default: 60. */
  readonly startsAMinute?: number
  /** When the agent started. Unit: milliseconds since the Unix epoch. Default: when its host makes the source. */
  readonly startedMs?: number
  /** Periods that commands set in a host before this one. Default: none. */
  readonly periods?: readonly Period[]
  /** Rules that watch what it samples. Default: none. */
  readonly watch?: SaidWatch
}

/** Another period for a duty. */
export interface Period {
  readonly device: string
  readonly duty: string
  /** Unit: microseconds. */
  readonly everyUs: number
}

/** A stretch of what was sampled, by the host's monotonic clock. */
export interface WindowRequest {
  /** Name of the type. */
  readonly type: string
  readonly device: string
  /** First nanosecond, as a decimal number. */
  readonly fromMonoNs: string
  /** First nanosecond after it. */
  readonly toMonoNs: string
  /** Records beyond are left out, the oldest first. Unit: bytes. */
  readonly bytesMax: number
  /**
   * What makes its times those of the wall clock, as a decimal number. Unit: nanoseconds. Default: what it is now. Who
   * asks for several windows gives the same for all, so that a step of the wall clock tears nothing.
   */
  readonly wallOffsetNs?: string
}

/** A ring of samples, as far as who asks for windows must know it. */
export interface TapInfo {
  /** Name of the type. */
  readonly type: string
  readonly device: string
  /** Names of the rules that watch it. */
  readonly rules: readonly string[]
  /** Samples that it holds at most. */
  readonly capacity: number
  /** Samples that it holds. */
  readonly count: number
  /** Unit: bytes. */
  readonly recordBytes: number
  /** Times of the oldest and the newest sample by the host's monotonic clock, as decimal numbers; 0 without any. */
  readonly oldestMonoNs: string
  readonly newestMonoNs: string
}

/** To a host elsewhere. What has an `id` is answered by a `reply` with the same. */
export type ToHost =
  | { readonly kind: 'start'; readonly source: HostedConfig }
  | { readonly kind: 'probe'; readonly id: number; readonly source: HostedConfig }
  | { readonly kind: 'command'; readonly id: number; readonly source: string; readonly command: unknown }
  | { readonly kind: 'period'; readonly id: number; readonly source: string; readonly period: Period }
  | { readonly kind: 'watch'; readonly id: number; readonly source: string; readonly watch: SaidWatch }
  | { readonly kind: 'window'; readonly id: number; readonly source: string; readonly window: WindowRequest }
  | { readonly kind: 'taps'; readonly id: number; readonly source: string }
  /** The bytes of a window that may be sent beside those before. */
  | { readonly kind: 'credit'; readonly id: number; readonly grantedBytes: number }
  | { readonly kind: 'stop'; readonly deadlineMs: number }

/**
 * Records of a source, and what they need. Labels and texts come before the first batch that uses them, as items of a
 * link tell them. Labels from 0 on begin a table, that of a source which replaces the one before. `window` is the id of
 * the request that a batch answers.
 */
export type LinkMessage =
  | {
      readonly kind: 'symbols'
      readonly source: string
      readonly firstId: number
      readonly texts: readonly string[]
    }
  /** A version of a declared type, before its first batch. */
  | {
      readonly kind: 'type'
      readonly source: string
      readonly fingerprint: string
      readonly definition: TypeDefinition
    }
  /** Constant labels of the source, before its first batch. */
  | { readonly kind: 'labels'; readonly source: string; readonly labels: Labels }
  | {
      readonly kind: 'batch'
      readonly source: string
      readonly type: string
      readonly clock: Clock
      readonly count: number
      readonly bytes: Uint8Array
      readonly window?: number
    }

/** How a source fares: its state, and what was counted since the message before. */
export interface StatusMessage {
  readonly kind: 'status'
  readonly source: string
  readonly state: SourceState
  readonly reason: string
  readonly found: string
  readonly stuck: readonly StuckCall[]
  /** All targets, where one of them has changed since the message before. */
  readonly targets?: readonly TargetStatus[]
  readonly calls: readonly SampleCall[]
  readonly overruns: number
  readonly failed: number
  /** The last places that failed. */
  readonly failures: readonly FailedRead[]
  /** Records dropped, by reason: `flood`, and what the source itself drops. */
  readonly dropped: Readonly<Record<string, number>>
}

/** An edge that a source reported; both times as decimal numbers. */
export interface EdgeMessage extends Pick<HostEdge, 'rule' | 'device' | 'isStart' | 'isLost' | 'event'> {
  readonly kind: 'edge'
  readonly source: string
  readonly monoNs: string
  readonly errorNs: string
}

/** Why something was refused. */
export interface SaidError {
  readonly code: string
  readonly message: string
}

/** The answer to what had that id. */
export interface Reply {
  readonly kind: 'reply'
  readonly id: number
  readonly value?: unknown
  readonly error?: SaidError
}

/** What ended a window. */
export interface WindowEnd {
  /** Records that it had. */
  readonly records: number
  /** Records that the limit of the request left out. */
  readonly leftOut: number
}

/** From a host elsewhere. */
export type FromHost =
  | LinkMessage
  | StatusMessage
  | EdgeMessage
  | Reply
  /** It is there, and has nothing else to say. */
  | { readonly kind: 'beat' }
  /** It has nothing but calls that do not come back. */
  | { readonly kind: 'blocked' }
  /** It has stopped, and these calls are still open. */
  | { readonly kind: 'stopped'; readonly open: readonly string[] }
