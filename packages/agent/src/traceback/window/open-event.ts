import type { EventEnd, TracebackEvent } from '@sonde/sdk/api'
import type { QuotaHolder } from '@sonde/sdk/internal'
import type { EventFile } from '../keep/event-file.ts'
import type { SeriesBook } from '../keep/series-book.ts'
import { nsToMs } from './clock.ts'

/** Source of the agent's own marks of events, and of the events of combinations. */
export const TRACEBACK_SOURCE = 'traceback'

/** The beginning of an event. */
export interface EventStart {
  readonly id: number
  /** The number in its edges. The event's number differs if this number was taken, or if it continues another event. */
  readonly edgeEvent: number
  readonly rule: string
  readonly condition: string
  /** Types of the records that its rule watches, or the rules that it combines. */
  readonly types: ReadonlySet<string>
  /** The source's name of the device, as in edges and rings. */
  readonly device: string
  /** Id in the list of devices; the source's name if the list does not have it. */
  readonly deviceId: string
  readonly source: string
  /** Whether its rule watched a ring of samples; otherwise reported records. */
  readonly isRing: boolean
  /** The client whose records opened it; undefined for a source of the agent. */
  readonly holder: QuotaHolder
  /** By the host's monotonic clock. Unit: nanoseconds. */
  readonly monoNs: bigint
  readonly errorNs: bigint
  /** Offset from the monotonic clock to the wall clock, fixed for the event. Unit: nanoseconds. */
  readonly offsetNs: bigint
  /** Length of the window before the start. Unit: nanoseconds. */
  readonly beforeNs: bigint
  /** Length of the window after the end. Unit: nanoseconds. */
  readonly afterNs: bigint
  readonly continues?: number | undefined
  /** The first part of the event, if this is a later part. */
  readonly first?: { readonly id: number; readonly startMs: number } | undefined
  readonly isSimulated: boolean
}

/** Left-out samples of one source and type. Times are nanoseconds since the Unix epoch. */
export interface LeftOutSamples {
  readonly source: string
  readonly type: string
  /** The source's name of the device; empty for reported records. */
  readonly device: string
  readonly fromNs: bigint
  readonly toNs: bigint
  readonly samples: number
}

/** Most left-out time spans of one event. Samples of further time spans are only counted. */
const STRETCHES_MAX = 256

/** An event that is not kept yet, with its window so far and its end. */
export class OpenEvent {
  readonly start: EventStart
  readonly book: SeriesBook
  readonly file: EventFile
  /** By ring: the first time that is not fetched yet. Unit: nanoseconds of the monotonic clock. */
  readonly cursors = new Map<string, bigint>()
  /** When reported records were last fetched; undefined before the first time. Unit: as `arrivedMs` of a batch. */
  reportedMs: number | undefined
  /** When windows were last fetched. Unit: nanoseconds of the monotonic clock. */
  fetchedNs = 0n
  /** Bytes of signals that the rule does not watch: of rings, and of reported records. */
  ringsBytes = 0
  reportedBytes = 0
  /** Time spans that its size limit left out, by source, type and device. */
  readonly #leftOutStretches = new Map<string, LeftOutSamples>()
  /** Samples that limits left out. */
  leftOut = 0
  end: EventEnd | undefined
  endNs = 0n
  endErrorNs = 0n
  /** End of its window. Unit: nanoseconds of the monotonic clock. */
  toNs: bigint | undefined
  /** Whether the disk refused more samples. */
  isTruncated = false

  constructor(start: EventStart, { book, file }: { readonly book: SeriesBook; readonly file: EventFile }) {
    this.start = start
    this.book = book
    this.file = file
  }

  /** Start of its window. Unit: nanoseconds of the monotonic clock. */
  get fromNs(): bigint {
    const { monoNs, beforeNs } = this.start
    return monoNs > beforeNs ? monoNs - beforeNs : 0n
  }

  /** Ends the event. An event that has ended does not change. */
  close(why: EventEnd, at: { readonly monoNs: bigint; readonly errorNs: bigint; readonly afterNs: bigint }): void {
    if (this.end !== undefined) return
    this.end = why
    this.endNs = at.monoNs < this.start.monoNs ? this.start.monoNs : at.monoNs
    this.endErrorNs = at.errorNs
    this.toNs = this.endNs + at.afterNs
    this.file.end = { why, endNs: this.endNs + this.start.offsetNs, errorNs: at.errorNs }
  }

  /** Time spans that its size limit left out. Times are nanoseconds since the Unix epoch. */
  get leftOutStretches(): readonly LeftOutSamples[] {
    return [...this.#leftOutStretches.values()]
  }

  /** Leaves samples out because the event has its largest size. */
  leave(stretch: LeftOutSamples): void {
    this.leftOut += stretch.samples
    const key = `${stretch.source}\n${stretch.type}\n${stretch.device}`
    const known = this.#leftOutStretches.get(key)
    if (known === undefined && this.#leftOutStretches.size >= STRETCHES_MAX) return
    this.#leftOutStretches.set(key, known === undefined ? stretch : joined(known, stretch))
  }

  /** Appends records, unless the disk refused more. */
  async append(...[part, batch]: Parameters<EventFile['append']>) {
    if (this.isTruncated) this.leftOut += batch.count
    else {
      try {
        await this.file.append(part, batch)
      } catch (error) {
        this.isTruncated = true
        this.leftOut += batch.count
        throw error
      }
    }
  }

  /** The first part of the event, or this part. */
  get first(): { readonly id: number; readonly startMs: number } {
    const { id, first, monoNs, offsetNs } = this.start
    return first ?? { id, startMs: nsToMs(monoNs + offsetNs) }
  }

  /** The event before it is kept. Its window ends where samples were last fetched. */
  told(): TracebackEvent {
    const { fetchedNs, toNs } = this
    const reachedNs = toNs !== undefined && toNs < fetchedNs ? toNs : fetchedNs
    const hasSamples = this.file.records > 0 && reachedNs > this.fromNs
    return { ...this.#known(), ...(hasSamples ? { window: this.#windowTo(reachedNs) } : {}) }
  }

  /** The event when it is kept. `sizeBytes` is the size of its file. */
  ended(sizeBytes: number): TracebackEvent {
    const isEmpty = sizeBytes === 0
    return {
      ...this.#known(),
      endMs: nsToMs(this.endNs + this.start.offsetNs),
      end: this.isTruncated ? 'truncated' : (this.end ?? 'stopped'),
      ...(isEmpty ? { samples: 0 } : { window: this.#windowTo(this.toNs ?? this.endNs) }),
      sizeBytes,
    }
  }

  #known(): TracebackEvent {
    const { id, rule, condition, deviceId: device, source, holder, continues, first, isSimulated } = this.start
    const { monoNs, offsetNs } = this.start
    return {
      ...{ id, rule, condition, device, source },
      ...(holder === undefined ? {} : { client: String(holder) }),
      startMs: nsToMs(monoNs + offsetNs),
      errorMs: this.#errorMs(),
      ...{ samples: this.file.records, leftOut: this.leftOut + this.book.missing, sizeBytes: this.file.bytes },
      ...(continues === undefined ? {} : { continues }),
      ...(first === undefined ? {} : { first }),
      isSimulated,
    }
  }

  #windowTo(toNs: bigint): NonNullable<TracebackEvent['window']> {
    const { offsetNs } = this.start
    return { fromMs: nsToMs(this.fromNs + offsetNs), toMs: nsToMs(toNs + offsetNs) }
  }

  #errorMs(): number {
    const { errorNs } = this.start
    return Number(errorNs > this.endErrorNs ? errorNs : this.endErrorNs) / 1e6
  }
}

/** Left-out samples of one source and type continue until the event ends, so they form one time span. */
function joined(known: LeftOutSamples, more: LeftOutSamples): LeftOutSamples {
  return {
    ...known,
    fromNs: more.fromNs < known.fromNs ? more.fromNs : known.fromNs,
    toNs: more.toNs > known.toNs ? more.toNs : known.toNs,
    samples: known.samples + more.samples,
  }
}
