import type { KeptGap, KeptIndex, KeptSeries } from './kept-index.ts'

/** Digits behind the point of a time in milliseconds: down to a nanosecond. */
const TIME_DIGITS = 6

/** A series as a note has it: texts are indexes, times are counted from the earliest. */
type PackedSeries = readonly [
  part: number,
  key: readonly number[],
  /** Names and values, by turns. */
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

/** What a note has of an index. */
export interface PackedIndex extends Omit<KeptIndex, 'series'> {
  /** Times of series are counted from here. Unit: milliseconds since the Unix epoch. */
  readonly baseMs: number
  /** Each text once. */
  readonly texts: readonly string[]
  readonly series: readonly PackedSeries[]
}

/** An index without a text that is there twice. */
export function packIndex({ series, ...rest }: KeptIndex): PackedIndex {
  const texts = new Map<string, number>()
  const text = (one: string): number => {
    const known = texts.get(one)
    if (known !== undefined) return known
    texts.set(one, texts.size)
    return texts.size - 1
  }
  const baseMs = Math.floor(series.reduce((least, { fromMs }) => Math.min(least, fromMs), series[0]?.fromMs ?? 0))
  const time = (ms: number) => Number((ms - baseMs).toFixed(TIME_DIGITS))
  const packed = series.map((one): PackedSeries => {
    const { part, key, labels, device, deviceName, kind, near, apart, moves, samples, errorMs, gaps } = one
    return [
      ...([part, key] as const),
      Object.entries(labels).flatMap(([name, value]) => [text(name), text(String(value))]),
      ...([text(device), text(deviceName), text(kind), near, apart.map(text), text(moves), samples] as const),
      ...([time(one.fromMs), time(one.toMs), Number(one.resolutionMs.toFixed(TIME_DIGITS)), errorMs] as const),
      gaps.map(({ fromMs, toMs, samples: missing }) => [time(fromMs), time(toMs), missing] as const),
    ]
  })
  return { ...rest, baseMs, texts: [...texts.keys()], series: packed }
}

/** The series of a note; undefined where they do not hold. */
export function unpackSeries({ parts, texts, series, baseMs }: PackedIndex): KeptSeries[] | undefined {
  if (!Number.isFinite(baseMs) || !texts.every((text) => typeof text === 'string')) return undefined
  const unpacked = series.map((one) => seriesOf(one, texts, baseMs, parts.length))
  return unpacked.every((one) => one !== undefined) ? unpacked : undefined
}

function seriesOf(
  packed: PackedSeries,
  texts: readonly string[],
  baseMs: number,
  partCount: number,
): KeptSeries | undefined {
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
