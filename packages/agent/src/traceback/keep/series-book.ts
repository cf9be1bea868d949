import { type Labels, labelOf, mergeLabels, numberAt, type RecordType, type Slot, viewsOf } from '@sonde/sdk'
import { labelText } from '@sonde/sdk/internal'
import { repeatSlotOf } from '../../rules/record-watch.ts'
import type { KeptGap, KeptSeries } from './kept-index.ts'
import { SignalMoves } from './signal-moves.ts'

/** Series of one event that are known; records of further ones are in the file, and no lane shows them. */
const SERIES_MAX = 4096
/** Gaps of one series that are told apart. */
const GAPS_MAX = 256
/** Gaps of all series of an event that are told apart. */
const ALL_GAPS_MAX = 8192
/** Times that are so many periods apart have a gap between them, where samples bear no numbers. */
const GAP_PERIODS = 2.5
/** Records of a block of a ring that are looked at for whether signals moved. */
const MOVES_A_BLOCK = 256
/** Fields that number the samples of a ring. */
const NUMBER_FIELDS: ReadonlySet<string> = new Set(['sample', 'sequence'])

/** Records of one type, of one source. */
export interface Part {
  readonly index: number
  readonly source: string
  /** Whose series they are: sources of several clients may have one name. */
  readonly owner: object
  /** Whether a source of the agent made them; else an application did, or a file. */
  readonly isOwn: boolean
  readonly type: RecordType
  /** Whether they come from a ring of samples, and not of what was reported. */
  readonly isRing: boolean
  /** Constant labels of the source. */
  readonly labels: Labels
  /** Between two records of a series, as the source says; 0 if it does not. Unit: milliseconds. */
  readonly periodMs: number
  /**
   * How old or how averaged its values are at least, as the source says: records that come faster say no more. Default:
   * not known. Unit: milliseconds.
   */
  readonly valueMs?: number
}

/** A series, as its records go by. Times are nanoseconds behind the base. */
interface Passing {
  readonly part: Part
  readonly key: readonly number[]
  readonly labels: Labels
  samples: number
  firstNs: number
  lastNs: number
  /** When the last sample was that is no repeat of the one before. */
  newNs: number
  lastNumber: number
  /** Time and number of the steps that are no gap. */
  stepsNs: number
  steps: number
  /** Samples that numbers say are missing. */
  missing: number
  readonly gaps: KeptGap[]
  readonly moves: SignalMoves
}

/** What the book alone knows of a series. */
export type BookedSeries = Omit<KeptSeries, 'device' | 'deviceName' | 'kind' | 'near' | 'apart' | 'errorMs'>

/** Notes what series the records of an event are of, how far apart they lie, and where some are missing. */
export class SeriesBook {
  readonly parts: Part[] = []
  /** Times are counted from here: a double holds no nanoseconds since the Unix epoch. */
  readonly #baseNs: bigint
  /** Up to here a signal is taken to be as usual. Unit: nanoseconds behind the base. */
  readonly #usualNs: number
  readonly #series = new Map<string, Passing>()
  #gaps = 0

  /**
   * @param baseNs A time near those of the records: the start of the event. Unit: nanoseconds since the Unix epoch.
   * @param beforeNs How much of the time before belongs to it: in the first half of that, signals are as usual.
   */
  constructor(baseNs: bigint, beforeNs = 0n) {
    this.#baseNs = baseNs
    this.#usualNs = -Number(beforeNs) / 2
  }

  /** Samples that are missing, as their numbers say. */
  get missing(): number {
    return [...this.#series.values()].reduce((sum, { missing }) => sum + missing, 0)
  }

  /** The part of an owner and a type, made when it is asked for first. */
  partOf(wanted: Omit<Part, 'index'>): Part {
    const same = ({ owner, type, isRing }: Omit<Part, 'index'>) =>
      owner === wanted.owner && type.fingerprint === wanted.type.fingerprint && isRing === wanted.isRing
    const known = this.parts.find(same)
    if (known !== undefined) return known
    const part = { ...wanted, index: this.parts.length }
    this.parts.push(part)
    return part
  }

  /** Notes records; gives the first and the last of their times. */
  take(
    part: Part,
    bytes: Uint8Array,
    count: number,
    symbols: Parameters<typeof labelText>[3],
  ): { readonly fromNs: bigint; readonly toNs: bigint } {
    const { type } = part
    const { recordBytes } = type.layout
    const views = viewsOf(bytes)
    const number = part.isRing ? numberSlotOf(type) : undefined
    const repeat = part.isRing ? repeatSlotOf(type) : undefined
    let known: Passing | undefined
    let from = Number.POSITIVE_INFINITY
    let to = Number.NEGATIVE_INFINITY
    // What is sampled fast is looked at now and then: whether a signal moved is to be known, not how.
    const stride = part.isRing ? Math.ceil(count / MOVES_A_BLOCK) : 1
    for (let index = 0; index < count; index++) {
      const at = index * recordBytes
      if (known === undefined || !isOf(known, type, views, at)) known = this.#seriesAt(part, views, at, symbols)
      const ns = this.#nsAt(type, views.data, at)
      if (ns < from) from = ns
      if (ns > to) to = ns
      if (known === undefined) continue
      const isRepeat = repeat !== undefined && numberAt(repeat, views, at) !== 0
      this.#step(known, ns, { number: number === undefined ? undefined : numberAt(number, views, at), isRepeat })
      if (index % stride === 0) known.moves.take(views.data, at, ns, ns <= this.#usualNs)
    }
    return { fromNs: this.#baseNs + BigInt(from), toNs: this.#baseNs + BigInt(to) }
  }

  /** What is known of each series. */
  kept(): BookedSeries[] {
    const baseMs = Number(this.#baseNs / 1000n) / 1000
    return Array.from(
      this.#series.values(),
      ({ part, key, labels, samples, stepsNs, steps, gaps, moves, ...times }) => ({
        ...{ part: part.index, key, labels, samples, moves: moves.told() },
        fromMs: baseMs + times.firstNs / 1e6,
        toMs: baseMs + times.lastNs / 1e6,
        resolutionMs: Math.max(steps === 0 ? part.periodMs : stepsNs / steps / 1e6, part.valueMs ?? 0),
        gaps: gaps.map(({ fromMs, toMs, samples: missing }) => ({
          fromMs: baseMs + fromMs,
          toMs: baseMs + toMs,
          samples: missing,
        })),
      }),
    )
  }

  #nsAt({ time }: RecordType, data: DataView, at: number): number {
    if (time === undefined) return 0
    const raw = data.getBigUint64(at + time.offset, true)
    return Number((time.field.resolution === 'us' ? raw * 1000n : raw) - this.#baseNs)
  }

  #seriesAt(
    part: Part,
    views: ReturnType<typeof viewsOf>,
    at: number,
    symbols: Parameters<typeof labelText>[3],
  ): Passing | undefined {
    const key = part.type.labels.map((slot) => numberAt(slot, views, at))
    const text = `${part.index} ${key.join(' ')}`
    const known = this.#series.get(text)
    if (known !== undefined || this.#series.size >= SERIES_MAX) return known
    const own = Object.fromEntries(part.type.labels.map((slot) => [slot.name, labelText(slot, views, at, symbols)]))
    const counts = { samples: 0, firstNs: 0, lastNs: 0, newNs: 0, lastNumber: 0, stepsNs: 0, steps: 0, missing: 0 }
    const moves = new SignalMoves(part.type)
    const made: Passing = { part, key, labels: mergeLabels(own, part.labels), ...counts, gaps: [], moves }
    this.#series.set(text, made)
    return made
  }

  /**
   * A sample comes: what lies between it and the sample before is a step or a gap. A repeat is no step: signals are
   * known as often as they are new.
   */
  #step(
    series: Passing,
    ns: number,
    { number, isRepeat }: { readonly number: number | undefined; readonly isRepeat: boolean },
  ): void {
    const { part } = series
    let isGap = false
    if (series.samples === 0) series.firstNs = ns
    else {
      // The number may be one of 32 bits that began again.
      const missing = number === undefined ? 0 : ((number - series.lastNumber) >>> 0) - 1
      const isJump = number === undefined && part.periodMs > 0 && ns - series.lastNs > GAP_PERIODS * part.periodMs * 1e6
      isGap = missing > 0 || isJump
      if (isGap) this.#noteGap(series, ns, missing)
      else if (!isRepeat && ns > series.newNs) {
        series.stepsNs += ns - series.newNs
        series.steps++
      }
    }
    if (!isRepeat || isGap || series.samples === 0) series.newNs = ns
    series.samples++
    series.lastNs = ns
    if (number !== undefined) series.lastNumber = number
  }

  #noteGap(series: Passing, ns: number, missing: number): void {
    series.missing += missing
    if (series.gaps.length >= GAPS_MAX || this.#gaps >= ALL_GAPS_MAX) return
    this.#gaps++
    series.gaps.push({ fromMs: series.lastNs / 1e6, toMs: ns / 1e6, samples: missing })
  }
}

/** The field that numbers the samples of a type; undefined if it has none. */
export function numberSlotOf({ layout }: RecordType): Slot | undefined {
  return layout.slots.find(({ name, field }) => field.role === 'value' && NUMBER_FIELDS.has(name))
}

/** The device that labels name; empty if they name none. */
export function deviceIn(labels: Labels): string {
  return labelOf(labels, 'device')
}

function isOf({ key }: Passing, { labels }: RecordType, views: ReturnType<typeof viewsOf>, at: number): boolean {
  for (let i = 0; i < labels.length; i++) if (numberAt(labels[i] as Slot, views, at) !== key[i]) return false
  return true
}
