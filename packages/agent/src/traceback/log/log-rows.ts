import type { RuleBook } from '../../rules/rule.ts'
import type { DeviceRing } from '../feed/device-ring.ts'
import type { FeedInfo } from '../feed/sample-feed.ts'

/** What the head of a log says. */
export interface LogHead {
  readonly feed: FeedInfo
  readonly book: RuleBook
  /** Version of Sonde. */
  readonly version: string
}

/** Why an event's rows end; see `docs/traceback.md`. */
export type EndReason = 'cleared' | 'cut' | 'truncated' | 'stopped' | 'end_of_samples' | 'failed'

/** The beginning of an event. */
export interface StartRow {
  /** Number of the event, counted from 1 in this run. */
  readonly event: number
  readonly rule: string
  readonly timeNs: bigint
  /** Stamp of the device, as the reference application prints it. */
  readonly raw: bigint
  /** The event that was cut before it. */
  readonly continues?: number
  /** Whether the rule became active earlier, when the limit of events was reached. */
  readonly isLate?: boolean
}

/** The end of an event. */
export interface EndRow {
  readonly event: number
  readonly rule: string
  readonly timeNs: bigint
  readonly raw: bigint
  readonly reason: EndReason
}

/** What else the reader of a log must know. */
export interface NoteRow {
  readonly kind: NoteKind
  readonly timeNs: bigint
  readonly raw: bigint
  readonly text: string
}

/** What a note tells of. */
export type NoteKind = 'gap' | 'reset' | 'wrap' | 'limit' | 'lost' | 'rotated' | 'stopped'

/** How rows of the log are written. Each is a line with its line break. */
export interface LogRows {
  /** What each file begins with, the row of columns included. */
  head(head: LogHead): string
  sample(ring: DeviceRing, sample: number): string
  start(row: StartRow): string
  end(row: EndRow): string
  note(row: NoteRow): string
}
