import type { EventEnd, TracebackEvent } from '@sonde/sdk/api'
import type { Holder } from '@sonde/sdk/internal'
import type { EventFile } from '../keep/event-file.ts'
import type { SeriesBook } from '../keep/series-book.ts'
import { msOf } from './clock.ts'

/** Source of the marks that the agent itself makes of events, and of the events of rules that combine others. */
export const TRACEBACK_SOURCE = 'traceback'

/** How an event begins. */
export interface EventStart {
  readonly id: number
  /** The number that its edges bear; its own is another where that was taken, and where it continues an event. */
  readonly edgeEvent: number
  readonly rule: string
  readonly condition: string
  /** Types of the records that its rule watches, or the rules that it combines. */
  readonly types: ReadonlySet<string>
  /** As its source calls it: edges and rings bear that. */
  readonly device: string
  /** In the list of devices; as its source calls it where the list does not have it. */
  readonly deviceId: string
  readonly source: string
  /** Whether its rule watched a ring of samples; else records as they are reported. */
  readonly isRing: boolean
  /** The client whose records opened it; undefined if a source of the agent did. */
  readonly holder: Holder
  /** By the host's monotonic clock. Unit: nanoseconds. */
  readonly monoNs: bigint
  readonly errorNs: bigint
  /** What makes times of that clock those of the wall clock, for all of the event. Unit: nanoseconds. */
  readonly offsetNs: bigint
  /** How much of the time before belongs to it. Unit: nanoseconds. */
  readonly beforeNs: bigint
  /** How much of the time after. Unit: nanoseconds. */
  readonly afterNs: bigint
  readonly continues?: number | undefined
  /** The part that the event started with, where this is another. */
  readonly first?: { readonly id: number; readonly startMs: number } | undefined
  readonly isSimulated: boolean
}

/** Samples of one source and type that are left out. Times are nanoseconds since the Unix epoch. */
export interface LeftOut {
  readonly source: string
  readonly type: string
  /** As the source calls it; empty for records that are reported. */
  readonly device: string
  readonly fromNs: bigint
  readonly toNs: bigint
  readonly samples: number
}

/** Stretches of one event that are listed; what further ones hold is counted. */
const STRETCHES_MAX = 256

/** An event that is not kept yet: what it has of its window, and when it ends. */
export class OpenEvent {
  readonly start: EventStart
  readonly book: SeriesBook
  readonly file: EventFile
  /** By ring: the first time that was not fetched yet. Unit: nanoseconds of the monotonic clock. */
  readonly cursors = new Map<string, bigint>()
  /** When what was reported was last fetched; undefined before the first time. Unit: as `arrivedMs` of a batch. */
  reportedMs: number | undefined
  /** When windows were last fetched. Unit: nanoseconds of the monotonic clock. */
  fetchedNs = 0n
  /** Written of signals that the rule does not watch: of rings, and of what is reported. Unit: bytes. */
  ringsBytes = 0
  reportedBytes = 0
  /** Stretches that its size left out, by source, type and device. */
  readonly #leftOutStretches = new Map<string, LeftOut>()
  /** Samples that limits left out. */
  leftOut = 0
  end: EventEnd | undefined
  endNs = 0n
  endErrorNs = 0n
  /** End of its window. Unit: nanoseconds of the monotonic clock. */
  toNs: bigint | undefined
  /** The disk took no more. */
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

  /** It ends; an event that has ended goes on as it is. */
  close(why: EventEnd, at: { readonly monoNs: bigint; readonly errorNs: bigint; readonly afterNs: bigint }): void {
    if (this.end !== undefined) return
    this.end = why
    this.endNs = at.monoNs < this.start.monoNs ? this.start.monoNs : at.monoNs
    this.endErrorNs = at.errorNs
    this.toNs = this.endNs + at.afterNs
    this.file.end = { why, endNs: this.endNs + this.start.offsetNs, errorNs: at.errorNs }
  }

  /** Stretches that its size left out. Times are nanoseconds since the Unix epoch. */
  get leftOutStretches(): readonly LeftOut[] {
    return [...this.#leftOutStretches.values()]
  }

  /** A stretch of samples is left out, because the event is as large as it may be. */
  leave(stretch: LeftOut): void {
    this.leftOut += stretch.samples
    const key = `${stretch.source}\n${stretch.type}\n${stretch.device}`
    const known = this.#leftOutStretches.get(key)
    if (known === undefined && this.#leftOutStretches.size >= STRETCHES_MAX) return
    this.#leftOutStretches.set(key, known === undefined ? stretch : joined(known, stretch))
  }

  /** Appends records; the disk may take no more. */
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

  /** The event that it is, or is a part of. */
  get first(): { readonly id: number; readonly startMs: number } {
    const { id, first, monoNs, offsetNs } = this.start
    return first ?? { id, startMs: msOf(monoNs + offsetNs) }
  }

  /** As it is told while it is not kept yet: its window reaches to where samples were last fetched. */
  told(): TracebackEvent {
    const { fetchedNs, toNs } = this
    const reachedNs = toNs !== undefined && toNs < fetchedNs ? toNs : fetchedNs
    const hasSamples = this.file.records > 0 && reachedNs > this.fromNs
    return { ...this.#known(), ...(hasSamples ? { window: this.#windowTo(reachedNs) } : {}) }
  }

  /** As it is kept: ended. `sizeBytes`: of its file. */
  ended(sizeBytes: number): TracebackEvent {
    const isEmpty = sizeBytes === 0
    return {
      ...this.#known(),
      endMs: msOf(this.endNs + this.start.offsetNs),
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
      startMs: msOf(monoNs + offsetNs),
      errorMs: this.#errorMs(),
      ...{ samples: this.file.records, leftOut: this.leftOut + this.book.missing, sizeBytes: this.file.bytes },
      ...(continues === undefined ? {} : { continues }),
      ...(first === undefined ? {} : { first }),
      isSimulated,
    }
  }

  #windowTo(toNs: bigint): NonNullable<TracebackEvent['window']> {
    const { offsetNs } = this.start
    return { fromMs: msOf(this.fromNs + offsetNs), toMs: msOf(toNs + offsetNs) }
  }

  #errorMs(): number {
    const { errorNs } = this.start
    return Number(errorNs > this.endErrorNs ? errorNs : this.endErrorNs) / 1e6
  }
}

/** What is left out of one source and type goes on until the event ends: it is one stretch. */
function joined(known: LeftOut, more: LeftOut): LeftOut {
  return {
    ...known,
    fromNs: more.fromNs < known.fromNs ? more.fromNs : known.fromNs,
    toNs: more.toNs > known.toNs ? more.toNs : known.toNs,
    samples: known.samples + more.samples,
  }
}
