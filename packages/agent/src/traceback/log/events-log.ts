import type { RuleBook } from '../../rules/rule.ts'
import { type DeviceRing, SAMPLE_AT } from '../feed/device-ring.ts'
import type { FeedInfo } from '../feed/sample-feed.ts'
import { LogFile, type LogFileOptions, type LogLosses } from './log-file.ts'
import type { EndReason, LogRows, NoteKind } from './log-rows.ts'
import { MinuteLimit } from './minute-limit.ts'

/** Limits of events in a log. Longer events are cut; further events are left out and counted. */
export interface EventLimits {
  /** Longest event. A longer event is cut, and another continues it. Unit: seconds. Default: 60. */
  readonly eventSMax?: number
  /** Largest event with its history. Unit: bytes. Default: 64 MiB. */
  readonly eventBytesMax?: number
  /** Events a minute, including events that continue others. Default: 60. */
  readonly eventsPerMinute?: number
}

/** Options of an {@link EventsLog}. */
export interface EventsLogOptions extends EventLimits {
  readonly file: LogFileOptions
  readonly rows: LogRows
  readonly ring: DeviceRing
  readonly book: RuleBook
  readonly feed: FeedInfo
  /** Version of Sonde. */
  readonly version: string
  /** Called when the disk refuses rows, and again for each later loss. */
  readonly onLoss?: (reason: string) => void
}

/** An edge of a rule for the log. */
export interface LogEdge {
  /** Index in the book. */
  readonly rule: number
  readonly sample: number
  readonly isStart: boolean
  /** Default: the time of the sample. Unit: nanoseconds since the epoch. */
  readonly timeNs?: bigint
}

/** A note about a sample. */
export interface LogNote {
  readonly kind: NoteKind
  readonly sample: number
  readonly text: string
}

/** Counts of written and left-out rows. */
export interface LogTotals {
  events: number
  samples: number
  notes: number
  /** Events beyond the limit of a minute. */
  eventsLeftOut: number
  /** Samples of left-out events. */
  samplesLeftOut: number
  notesLeftOut: number
  losses: LogLosses
}

interface OpenEvent {
  readonly event: number
  readonly startNs: bigint
  readonly startBytes: number
}

/** Most ends of events that wait for the disk. */
const CUT_OFF_MAX = 1024
/** Notes a minute. A device that skips all the time would give one for each gap. */
const NOTES_PER_MINUTE = 600

/**
 * The events log of Sonde: samples around events, their starts and ends, and notes about everything that is missing.
 */
export class EventsLog {
  readonly totals: LogTotals
  readonly #options: EventsLogOptions
  readonly #file: LogFile
  readonly #events: MinuteLimit
  readonly #notes = new MinuteLimit(NOTES_PER_MINUTE)
  readonly #eventNsMax: bigint
  readonly #eventBytesMax: number
  /** By rule. */
  readonly #open = new Map<number, OpenEvent>()
  /** Active rules whose event is not in the log. */
  readonly #leftOut = new Set<number>()
  /** The first sample that is not in the log. */
  #next = 0
  /** Whether the disk refused the previous rows. */
  #isLosing = false
  /** Lost rows that the log already mentions. */
  #toldLost = 0
  /** Events whose end is not in the log. */
  #cutOff: { readonly rule: number; readonly event: number; readonly sample: number }[] = []

  /** @throws SondeError `TRB_LOG` if the file cannot be opened. */
  constructor(options: EventsLogOptions) {
    this.#options = options
    const { rows, feed, book, version, eventSMax = 60, eventBytesMax = 64 * 1024 * 1024 } = options
    this.#file = new LogFile(options.file, () => rows.head({ feed, book, version }) + this.#openRow())
    this.#events = new MinuteLimit(options.eventsPerMinute ?? 60)
    this.#eventNsMax = BigInt(Math.round(eventSMax * 1e9))
    this.#eventBytesMax = eventBytesMax
    const { losses } = this.#file
    this.totals = { events: 0, samples: 0, notes: 0, eventsLeftOut: 0, samplesLeftOut: 0, notesLeftOut: 0, losses }
  }

  /** Writes the rows of the newest samples of the ring. The ring also has the history before them. */
  write(first: number, end: number, edges: readonly LogEdge[], notes: readonly LogNote[]): void {
    if (first >= end) return
    if (this.#isLosing) this.#recover(first)
    let edge = 0
    let note = 0
    for (let sample = first; sample < end; sample++) {
      for (; note < notes.length && (notes[note] as LogNote).sample <= sample; note++)
        this.#note(notes[note] as LogNote)
      if (this.#open.size > 0) this.#row(sample)
      else if (this.#leftOut.size > 0) this.totals.samplesLeftOut++
      else if (edge >= edges.length && note >= notes.length) break
      for (; edge < edges.length && (edges[edge] as LogEdge).sample <= sample; edge++)
        this.#edge(edges[edge] as LogEdge)
      if (this.#open.size > 0 || this.#leftOut.size > 0) this.#bound(sample)
    }
    this.#tellLimits(end - 1)
    this.#flush()
  }

  /** An edge between two batches: time passed without a sample. */
  late(edge: LogEdge): void {
    this.#edge(edge)
    this.#flush()
  }

  /** Ends all events with a reason, and closes the file. May be called twice. */
  close(reason: EndReason, text: string): void {
    const { ring } = this.#options
    const last = ring.total - 1
    if (last >= 0) {
      if (this.#isLosing) this.#recover(last)
      for (const rule of [...this.#open.keys()].sort((a, b) => a - b)) this.#end(rule, last, reason)
      this.#tellLimits(last, { isLast: true })
      this.#write('stopped', last, text)
      this.#flush()
    }
    this.#open.clear()
    this.#file.close()
  }

  #edge({ rule, sample, isStart, timeNs }: LogEdge): void {
    if (isStart) this.#start(rule, sample, timeNs === undefined ? {} : { timeNs })
    else if (this.#open.has(rule)) this.#end(rule, sample, 'cleared')
    else this.#leftOut.delete(rule)
  }

  #start(rule: number, sample: number, how: { continues?: number; isLate?: boolean; timeNs?: bigint }): void {
    const { ring, rows, book } = this.#options
    const name = book.rules[rule]?.name ?? ''
    const timeNs = how.timeNs ?? ring.big(sample, SAMPLE_AT.time)
    if (!this.#events.take(name, ring.big(sample, SAMPLE_AT.time))) {
      this.totals.eventsLeftOut++
      this.#leftOut.add(rule)
      return
    }
    const startBytes = this.#file.writtenBytes
    if (how.isLate === true) this.#row(sample)
    else if (this.#open.size === 0) this.#history(sample)
    const event = ++this.totals.events
    this.#leftOut.delete(rule)
    this.#open.set(rule, { event, startNs: timeNs, startBytes })
    this.#file.row(rows.start({ ...how, event, rule: name, timeNs, raw: ring.big(sample, SAMPLE_AT.raw) }))
  }

  /** Samples before an event that are not in the log yet. */
  #history(sample: number): void {
    const { ring, book } = this.#options
    const oldest = Math.max(this.#next, ring.oldest, sample + 1 - 2 * book.historySamples)
    for (let old = oldest; old <= sample; old++) this.#row(old)
  }

  #row(sample: number): void {
    if (sample < this.#next) return
    this.#file.row(this.#options.rows.sample(this.#options.ring, sample))
    this.totals.samples++
    this.#next = sample + 1
  }

  #end(rule: number, sample: number, reason: EndReason): void {
    const { ring, rows, book } = this.#options
    const { event } = this.#open.get(rule) as OpenEvent
    this.#open.delete(rule)
    const timeNs = ring.big(sample, SAMPLE_AT.time)
    const raw = ring.big(sample, SAMPLE_AT.raw)
    this.#file.row(rows.end({ event, rule: book.rules[rule]?.name ?? '', timeNs, raw, reason }))
  }

  /** Cuts events that became too long or too large, and starts events that the limit of an earlier minute left out. */
  #bound(sample: number): void {
    const timeNs = this.#options.ring.big(sample, SAMPLE_AT.time)
    for (const [rule, { event, startNs, startBytes }] of this.#open) {
      if (timeNs - startNs < this.#eventNsMax && this.#file.writtenBytes - startBytes < this.#eventBytesMax) continue
      this.#end(rule, sample, 'cut')
      this.#start(rule, sample, { continues: event })
    }
    if (!this.#events.isOver(timeNs)) return
    this.#tellLimits(sample)
    for (const rule of [...this.#leftOut]) this.#start(rule, sample, { isLate: true })
  }

  #note({ kind, sample, text }: LogNote): void {
    if (this.#notes.take(kind, this.#options.ring.big(sample, SAMPLE_AT.time))) this.#write(kind, sample, text)
    else this.totals.notesLeftOut++
  }

  /** Notes the events and notes that the limit of a past minute left out. */
  #tellLimits(sample: number, { isLast = false } = {}): void {
    const timeNs = this.#options.ring.big(sample, SAMPLE_AT.time)
    for (const [limit, words] of [
      [this.#events, 'events'],
      [this.#notes, 'notes'],
    ] as const) {
      if (!isLast && !limit.isOver(timeNs)) continue
      const refused = [...limit.takeRefused()]
      if (refused.length === 0) continue
      const counts = refused.map(([name, count]) => `${count} of ${JSON.stringify(name)}`).join(', ')
      this.#write('limit', sample, `${words} beyond the limit of a minute, left out: ${counts}`)
    }
  }

  #write(kind: NoteKind, sample: number, text: string): void {
    const { ring, rows } = this.#options
    const [timeNs, raw] = [ring.big(sample, SAMPLE_AT.time), ring.big(sample, SAMPLE_AT.raw)]
    this.totals.notes++
    this.#file.row(rows.note({ kind, timeNs, raw, text }))
  }

  /** If the disk refuses rows, open events end here. Their ends are written as soon as the disk accepts rows again. */
  #flush(): void {
    if (this.#file.flush()) return
    const sample = this.#options.ring.total - 1
    for (const [rule, { event }] of this.#open) {
      if (this.#cutOff.length < CUT_OFF_MAX) this.#cutOff.push({ rule, event, sample })
      this.#leftOut.add(rule)
    }
    this.#open.clear()
    if (!this.#isLosing) this.#options.onLoss?.(this.#file.losses.reason)
    this.#isLosing = true
  }

  /** Tries to write again, starting with the lost ends. */
  #recover(sample: number): void {
    const { losses } = this.#file
    const { book, ring } = this.#options
    this.#write('lost', sample, `${losses.rows - this.#toldLost} rows were not written: ${losses.reason}`)
    const lostBefore = losses.rows
    for (const { rule, event } of this.#cutOff) {
      const row = { event, rule: book.rules[rule]?.name ?? '', reason: 'truncated' as const }
      const [timeNs, raw] = [ring.big(sample, SAMPLE_AT.time), ring.big(sample, SAMPLE_AT.raw)]
      this.#file.row(this.#options.rows.end({ ...row, timeNs, raw }))
    }
    if (!this.#file.flush()) {
      // Rows of this attempt are not lost: they are written later.
      losses.rows = lostBefore
      return
    }
    this.#isLosing = false
    this.#toldLost = losses.rows
    this.#cutOff = []
    for (const rule of [...this.#leftOut]) this.#start(rule, sample, { isLate: true })
  }

  /** For the head of a continued file: events that began in the previous file. */
  #openRow(): string {
    const { ring, rows } = this.#options
    if (this.#open === undefined || ring.total === 0) return ''
    const sample = ring.total - 1
    const open = [...this.#open.values()].map(({ event }) => event).join(', ')
    const { removedFiles, removedBytes } = this.#file.losses
    const removed =
      removedFiles === 0 ? '' : `; ${removedFiles} older files with ${removedBytes} bytes were removed so far`
    return rows.note({
      kind: 'rotated',
      timeNs: ring.big(sample, SAMPLE_AT.time),
      raw: ring.big(sample, SAMPLE_AT.raw),
      text: `this file continues the previous file; open events: ${open || 'none'}${removed}`,
    })
  }
}
