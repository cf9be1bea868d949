import type { KeptGap, KeptSeries } from './kept-index.ts'

/** Decimals of a time in milliseconds: down to a nanosecond. */
const TIME_DIGITS = 6

/** A series in a note. Texts are indexes, and times are relative to the earliest. */
export type PackedSeries = readonly [
  part: number,
  key: readonly number[],
  /** Names and values in turn. */
  labels: readonly number[],
  device: number,
  deviceName: number,
  kind: number,
  near: number,
  apart: readonly number[],
  moves: number,
  samples: number,
  fromMs: number,
  toMs: number,
  resolutionMs: number,
  errorMs: number,
  gaps: readonly (readonly [fromMs: number, toMs: number, samples: number])[],
]

/** Packs series so that each text appears once. */
export class SeriesPacker {
  readonly #baseMs: number
  readonly #texts = new Map<string, number>()

  /** @param baseMs Base of the series' times. Unit: milliseconds since the Unix epoch. */
  constructor(baseMs: number) {
    this.#baseMs = baseMs
  }

  /** Each text once, in the order of the indexes. */
  get texts(): IterableIterator<string> {
    return this.#texts.keys()
  }

  pack(one: KeptSeries): PackedSeries {
    const { part, key, labels, device, deviceName, kind, near, apart, moves, samples, errorMs, gaps } = one
    const text = (of: string) => this.#text(of)
    const time = (ms: number) => Number((ms - this.#baseMs).toFixed(TIME_DIGITS))
    return [
      ...([part, key] as const),
      Object.entries(labels).flatMap(([name, value]) => [text(name), text(String(value))]),
      ...([text(device), text(deviceName), text(kind), near, apart.map(text), text(moves), samples] as const),
      ...([time(one.fromMs), time(one.toMs), Number(one.resolutionMs.toFixed(TIME_DIGITS)), errorMs] as const),
      gaps.map(({ fromMs, toMs, samples: missing }) => [time(fromMs), time(toMs), missing] as const),
    ]
  }

  #text(one: string): number {
    const known = this.#texts.get(one)
    if (known !== undefined) return known
    this.#texts.set(one, this.#texts.size)
    return this.#texts.size - 1
  }
}

/** Context for unpacking the series of a note. */
export interface PackedFrame {
  readonly texts: readonly string[]
  /** Base of the times. Unit: milliseconds since the Unix epoch. */
  readonly baseMs: number
  readonly partCount: number
}

/** A series of a note; undefined if it is invalid. */
export function unpackSeries(packed: PackedSeries, { texts, baseMs, partCount }: PackedFrame): KeptSeries | undefined {
  if (!Array.isArray(packed) || packed.length !== 15) return undefined
  const [part, key, labels, device, deviceName, kind, near, apart, moves, samples, fromMs, toMs, ...more] =
    packed as PackedSeries
  const [resolutionMs, errorMs, gaps] = more
  const numbers = [part, near, samples, fromMs, toMs, resolutionMs, errorMs]
  const lists: unknown[] = [key, labels, apart, gaps]
  if (!numbers.every(Number.isFinite) || !lists.every(Array.isArray)) return undefined
  if (!Number.isInteger(part) || part < 0 || part >= partCount || labels.length % 2 !== 0) return undefined
  const places = [device, deviceName, kind, moves, ...labels, ...apart]
  if (!places.every((at) => texts[at] !== undefined)) return undefined
  if (!gaps.every((gap: unknown) => Array.isArray(gap) && gap.length === 3 && gap.every(Number.isFinite)))
    return undefined
  const text = (at: number) => texts[at] ?? ''
  const pairs = labels.flatMap((name, at) => (at % 2 === 0 ? [[text(name), text(labels[at + 1] as number)]] : []))
  return {
    ...{ part, key, near, samples, resolutionMs, errorMs },
    labels: Object.fromEntries(pairs) as Record<string, string>,
    ...{ device: text(device), deviceName: text(deviceName), kind: text(kind), moves: text(moves) },
    apart: apart.map(text),
    fromMs: baseMs + fromMs,
    toMs: baseMs + toMs,
    gaps: gaps.map(([from, to, missing]): KeptGap => ({ fromMs: baseMs + from, toMs: baseMs + to, samples: missing })),
  }
}
