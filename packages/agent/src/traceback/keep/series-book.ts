import { type Labels, numberAt, type RecordType, viewsOf } from '@sonde/sdk'
import { deviceLabelOf, labelOf, labelText, mergeLabels, type Slot } from '@sonde/sdk/internal'
import { repeatSlotOf } from '../../rules/record-watch.ts'
import type { KeptGap, KeptSeries } from './kept-index.ts'
import { SignalMoves } from './signal-moves.ts'

/** Most series of one event. Records of further series are in the file, but no lane shows them. */
const SERIES_MAX = 4096
/** Most gaps of one series. */
const GAPS_MAX = 256
/** Most gaps of all series of an event. */
const ALL_GAPS_MAX = 8192
/** Without sample numbers, times more than this many periods apart have a gap between them. */
const GAP_PERIODS = 2.5
/** Records of a ring's block that are checked for movement of signals. */
const MOVES_A_BLOCK = 256
/** Fields that number the samples of a ring. */
const NUMBER_FIELDS: ReadonlySet<string> = new Set(['sample', 'sequence'])

/** Records of one type and source. */
export interface SeriesPart {
  readonly index: number
  readonly source: string
  /** Owner of the series: sources of several clients may have the same name. */
  readonly owner: object
  /** Whether a source of the agent made them; otherwise an application or a file. */
  readonly isOwn: boolean
  readonly type: RecordType
  /** Whether they come from a ring of samples; otherwise from reported records. */
  readonly isRing: boolean
  /** Constant labels of the source. */
  readonly labels: Labels
  /** Time between two records of a series, as the source reports it; 0 if unknown. Unit: milliseconds. */
  readonly periodMs: number
  /**
   * Least age or averaging time of its values, as the source reports it. Faster records give no more detail. Default:
   * unknown. Unit: milliseconds.
   */
  readonly valueMs?: number
}

/** A series while its records are read. Times are nanoseconds after the base. */
interface CollectedSeries {
  readonly part: SeriesPart
  readonly key: readonly number[]
  readonly labels: Labels
  samples: number
  firstNs: number
  lastNs: number
  /** Time of the last sample that is not a repeat. */
  newNs: number
  lastNumber: number
  /** Total time and number of the steps that are not gaps. */
  stepsNs: number
  steps: number
  /** Missing samples according to the numbers. */
  missing: number
  readonly gaps: KeptGap[]
  readonly moves: SignalMoves
}

/** The properties of a series that its records alone give. */
export type BookedSeries = Omit<KeptSeries, 'device' | 'deviceName' | 'kind' | 'near' | 'apart' | 'errorMs'>

/** Collects the series of an event's records, the time between records, and gaps. */
export class SeriesBook {
  readonly parts: SeriesPart[] = []
  /** Base of the times: a double cannot hold nanoseconds since the Unix epoch. */
  readonly #baseNs: bigint
  /** Up to this time the signals are in their usual state. Unit: nanoseconds after the base. */
  readonly #usualNs: number
  readonly #series = new Map<string, CollectedSeries>()
  #gaps = 0

  /**
   * @param baseNs A time near the records: the start of the event. Unit: nanoseconds since the Unix epoch.
   * @param beforeNs Length of the window before the start. In its first half, signals are in their usual state.
   */
  constructor(baseNs: bigint, beforeNs = 0n) {
    this.#baseNs = baseNs
    this.#usualNs = -Number(beforeNs) / 2
  }

  /** Missing samples according to the numbers. */
  get missing(): number {
    return [...this.#series.values()].reduce((sum, { missing }) => sum + missing, 0)
  }

  /** The part of an owner and a type. The first call makes it. */
  partOf(wanted: Omit<SeriesPart, 'index'>): SeriesPart {
    const same = ({ owner, type, isRing }: Omit<SeriesPart, 'index'>) =>
      owner === wanted.owner && type.fingerprint === wanted.type.fingerprint && isRing === wanted.isRing
    const known = this.parts.find(same)
    if (known !== undefined) return known
    const part = { ...wanted, index: this.parts.length }
    this.parts.push(part)
    return part
  }

  /** Takes records. Returns the first and last of their times. */
  take(
    part: SeriesPart,
    bytes: Uint8Array,
    count: number,
    symbols: Parameters<typeof labelText>[3],
  ): { readonly fromNs: bigint; readonly toNs: bigint } {
    const { type } = part
    const { recordBytes } = type.layout
    const views = viewsOf(bytes)
    const number = part.isRing ? numberSlotOf(type) : undefined
    const repeat = part.isRing ? repeatSlotOf(type) : undefined
    let known: CollectedSeries | undefined
    let from = Number.POSITIVE_INFINITY
    let to = Number.NEGATIVE_INFINITY
    // Fast samples are only checked now and then, because only the movement of a signal matters.
    const stride = part.isRing ? Math.ceil(count / MOVES_A_BLOCK) : 1
    for (let index = 0; index < count; index++) {
      const at = index * recordBytes
      if (known === undefined || !isOfSeries(known, type, views, at)) known = this.#seriesAt(part, views, at, symbols)
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

  /** The collected series. */
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
    part: SeriesPart,
    views: ReturnType<typeof viewsOf>,
    at: number,
    symbols: Parameters<typeof labelText>[3],
  ): CollectedSeries | undefined {
    const key = part.type.labels.map((slot) => numberAt(slot, views, at))
    const text = `${part.index} ${key.join(' ')}`
    const known = this.#series.get(text)
    if (known !== undefined || this.#series.size >= SERIES_MAX) return known
    const own = Object.fromEntries(part.type.labels.map((slot) => [slot.name, labelText(slot, views, at, symbols)]))
    const counts = { samples: 0, firstNs: 0, lastNs: 0, newNs: 0, lastNumber: 0, stepsNs: 0, steps: 0, missing: 0 }
    const moves = new SignalMoves(part.type)
    const made: CollectedSeries = { part, key, labels: mergeLabels(own, part.labels), ...counts, gaps: [], moves }
    this.#series.set(text, made)
    return made
  }

  /**
   * Takes the time of a sample: a step or a gap since the previous sample. A repeat is not a step, because the
   * resolution is that of new samples.
   */
  #step(
    series: CollectedSeries,
    ns: number,
    { number, isRepeat }: { readonly number: number | undefined; readonly isRepeat: boolean },
  ): void {
    const { part } = series
    let isGap = false
    if (series.samples === 0) series.firstNs = ns
    else {
      // The number may have wrapped at 32 bits.
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

  #noteGap(series: CollectedSeries, ns: number, missing: number): void {
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

/** The source's name of the device of a series; empty if its labels name none. */
export function deviceIn(type: RecordType | undefined, labels: Labels): string {
  const name = deviceLabelOf(type ?? { entity: undefined })
  return name === undefined ? '' : labelOf(labels, name)
}

function isOfSeries(
  { key }: CollectedSeries,
  { labels }: RecordType,
  views: ReturnType<typeof viewsOf>,
  at: number,
): boolean {
  for (let i = 0; i < labels.length; i++) if (numberAt(labels[i] as Slot, views, at) !== key[i]) return false
  return true
}
