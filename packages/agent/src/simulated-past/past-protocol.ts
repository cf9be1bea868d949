import type { RecordType } from '@sonde/sdk'
import { hintType } from '../hints/history/hint-type.ts'
import { hintPauseType } from '../hints/history/pauses.ts'
import { simulatedPastType } from '../hints/history/simulated-past-type.ts'
import type { LinkMessage } from '../hosting/protocol.ts'
import type { RuleBook } from '../rules/rule.ts'
import type { SimulatorOptions } from '../sources/simulator/config.ts'
import type { SimulatorDiagOptions } from '../sources/simulator-diag/config.ts'
import type { TracebackConfig } from '../traceback/config.ts'

/** The time that is filled, and the node that it is filled with. */
export interface PastRequest {
  readonly options: SimulatorOptions
  readonly intervalMs: number
  /** Name of the source. */
  readonly name: string
  /** Name of the agent's host. */
  readonly host: string
  /** Start of the simulated node, before which its faults lie. Unit: milliseconds since the Unix epoch. */
  readonly startedMs: number
  /** What is filled. Unit: milliseconds since the Unix epoch. */
  readonly fromMs: number
  readonly toMs: number
}

/** The source whose rings events of the past have. */
export interface PastRings {
  readonly name: string
  /** Its place in the configuration. */
  readonly index: number
  readonly intervalMs: number
  readonly options: SimulatorDiagOptions
}

/** The events that are made when the past is filled. */
export interface PastEventsRequest {
  /** Undefined if no source samples the node. */
  readonly rings: PastRings | undefined
  readonly book: RuleBook
  readonly config: TracebackConfig
  readonly version: string
  /** Numbers that are in use. */
  readonly taken: ReadonlySet<number>
  /** Most events; the latest are made. */
  readonly eventsMax: number
}

/** Counts of the events of the past. */
export interface PastEventCounts {
  readonly made: number
  /** Events beyond the limits. */
  readonly leftOut: number
  /** Earlier faults that were not sampled, because later faults had enough events. */
  readonly faultsLeft: number
}

/** A message to the thread that simulates the past. */
export type ToPast = { readonly kind: 'go' } | { readonly kind: 'events'; readonly request: PastEventsRequest }

/** A message of the thread that simulates the past. */
export type FromPast =
  | LinkMessage
  /** An event is in the folder of events. */
  | { readonly kind: 'event'; readonly id: number }
  /** All events are in the folder. */
  | { readonly kind: 'events'; readonly counts: Omit<PastEventCounts, 'made'> }
  | { readonly kind: 'warning'; readonly facts: object; readonly message: string }
  /** A stretch is complete up to this time; the next one follows when the agent asks for it. */
  | { readonly kind: 'filled'; readonly toMs: number; readonly isDone: boolean }

/** Name of the source with the records of the agent itself, as in an agent that runs. */
export const SELF = 'self'

/** Types that this source alone reports in the past. */
export const SELF_PAST_TYPES: readonly RecordType[] = [hintType, hintPauseType, simulatedPastType]
