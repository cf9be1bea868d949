import type { Labels } from '@sonde/sdk'
import type { FailedRead, SourceState, TargetStatus } from '@sonde/sdk/api'
import type { Clock, TypeDefinition } from '@sonde/sdk/internal'
import type { EncodedWatch } from '../rules/watch.ts'
import type { SourcePaths } from '../sources/source.ts'
import type { HostEdge } from './edge-gate.ts'
import type { SampleCall } from './source-stats.ts'
import type { StuckCall } from './stuck-call.ts'

/** The data with which a host makes a source. */
export interface HostedConfig {
  /** URL of the module whose `SOURCES` holds the definition. */
  readonly module: string
  readonly name: string
  /** Name of the definition. */
  readonly type: string
  readonly options: object
  readonly intervalMs: number
  readonly paths: SourcePaths
  /** Limit of the records of a device in an interval. Unit: bytes. */
  readonly floodBytes: number
  /** Longest that a call may take where its duty does not say. Unit: milliseconds. */
  readonly callLimitMs: number
  /** Slot of the numbers of its events; see `EVENT_SLOTS`. Default: 0. */
  readonly eventSlot?: number
  /** Events that may start of one device in a minute. Default: 60. */
  readonly startsAMinute?: number
  /** When the agent started. Unit: milliseconds since the Unix epoch. Default: when its host makes the source. */
  readonly startedMs?: number
  /** Periods that commands set in an earlier host. Default: none. */
  readonly periods?: readonly DutyPeriod[]
  /** Rules that watch its samples. Default: none. */
  readonly watch?: EncodedWatch
  /** Why it is switched off; empty if it is not. Default: empty. */
  readonly paused?: string
}

/** Another period for a duty. */
export interface DutyPeriod {
  readonly device: string
  readonly duty: string
  /** Unit: microseconds. */
  readonly everyUs: number
}

/** A stretch of samples, in times of the host's monotonic clock. */
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
   * The difference of wall clock and monotonic clock, as a decimal number. Unit: nanoseconds. Default: the current
   * difference. Requests for several windows of an event use the same value, so that a step of the wall clock does not
   * tear them.
   */
  readonly wallOffsetNs?: string
}

/** The properties of a ring for readers of windows. */
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
  | { readonly kind: 'period'; readonly id: number; readonly source: string; readonly period: DutyPeriod }
  | { readonly kind: 'watch'; readonly id: number; readonly source: string; readonly watch: EncodedWatch }
  | { readonly kind: 'pause'; readonly id: number; readonly source: string; readonly reason: string }
  | { readonly kind: 'window'; readonly id: number; readonly source: string; readonly window: WindowRequest }
  | { readonly kind: 'taps'; readonly id: number; readonly source: string }
  /** Additional credit for a window. Unit: bytes. */
  | { readonly kind: 'credit'; readonly id: number; readonly grantedBytes: number }
  | { readonly kind: 'stop'; readonly deadlineMs: number }

/**
 * Records of a source and their announcements. Labels and texts are announced before the first batch that uses them, as
 * on a link. Labels from 0 start a new table, which belongs to a successor of the source. `window` is the id of the
 * request that a batch answers.
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
  /** Dropped records by reason: `flood`, and the reasons of the source itself. */
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

/** The answer to the request with this id. */
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
