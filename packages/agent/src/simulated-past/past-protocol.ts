import type { RecordType } from '@sonde/sdk'
import { hintType } from '../hints/history/hint-type.ts'
import { hintPauseType } from '../hints/history/pauses.ts'
import { simulatedPastType } from '../hints/history/simulated-past-type.ts'
import type { LinkMessage } from '../hosting/protocol.ts'
import type { SimulatorOptions } from '../sources/simulator/config.ts'

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

/** A message of the thread that simulates the past. */
export type FromPast =
  | LinkMessage
  /** A stretch is complete up to this time; the next one follows when the agent asks for it. */
  | { readonly kind: 'filled'; readonly toMs: number; readonly isDone: boolean }

/** Name of the source with the records of the agent itself, as in an agent that runs. */
export const SELF = 'self'

/** Types that this source alone reports in the past. */
export const SELF_PAST_TYPES: readonly RecordType[] = [hintType, hintPauseType, simulatedPastType]
