import type { RuleBook } from '../../rules/rule.ts'
import type { DeviceRing } from '../feed/device-ring.ts'
import type { FeedInfo } from '../feed/sample-feed.ts'

/** Head of a log. */
export interface LogHead {
  readonly feed: FeedInfo
  readonly book: RuleBook
  /** Version of Sonde. */
  readonly version: string
}

/** Why the rows of an event end; see `docs/traceback.md`. */
export type EndReason = 'cleared' | 'cut' | 'truncated' | 'stopped' | 'end_of_samples' | 'failed'

/** The beginning of an event. */
export interface StartRow {
  /** Number of the event, counted from 1 in this run. */
  readonly event: number
  readonly rule: string
  readonly timeNs: bigint
  /** Time stamp of the device, as the reference application prints it. */
  readonly raw: bigint
  /** The earlier event that was cut and that this event continues. */
  readonly continues?: number
  /** Whether the rule became active earlier, while the limit of events was reached. */
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

/** Other facts for the reader of a log. */
export interface NoteRow {
  readonly kind: NoteKind
  readonly timeNs: bigint
  readonly raw: bigint
  readonly text: string
}

/** Subject of a note. */
export type NoteKind = 'gap' | 'reset' | 'wrap' | 'limit' | 'lost' | 'rotated' | 'stopped'

/** Writes the rows of the log. Each row is a line with its line break. */
export interface LogRows {
  /** The beginning of each file, including the row of columns. */
  head(head: LogHead): string
  sample(ring: DeviceRing, sample: number): string
  start(row: StartRow): string
  end(row: EndRow): string
  note(row: NoteRow): string
}
