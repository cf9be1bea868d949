import type { FamilyInfo } from '../prometheus/header.ts'

/** Labels of a series, sorted by name, each once, without empty values; `__name__` is among them. */
export type SortedLabels = readonly (readonly [name: string, value: string])[]

/** The metric of a series. */
export interface MetricInfo extends FamilyInfo {
  /** One sentence for people. */
  readonly help: string
}

/**
 * Samples of one series, oldest first. The arrays are used during the call. A value is the two words of a double: an
 * array of doubles would not keep the bits of the marker of staleness.
 */
export interface SeriesSamples {
  count: number
  /** Milliseconds since the Unix epoch. */
  timesMs: Float64Array
  low: Uint32Array
  high: Uint32Array
  /** When the counter of each sample was 0, as far as it is known; 0 if not. Milliseconds since the Unix epoch. */
  startsMs: Float64Array
}

/** Labels as an encoder keeps them for the next request. */
export type EncodedLabels = Uint8Array | Uint32Array

/** A histogram with custom edges at one time. A stale histogram has no counts, and the marker as its sum. */
export interface EdgesHistogram {
  readonly timeMs: number
  /** When its counts were 0; 0 if that is not known. */
  readonly startMs: number
  /** Upper edges, inclusive, without the open bin. */
  readonly edges: readonly number[]
  /** Cumulative counts of all bins. Empty: it is stale. */
  readonly cumulative: readonly number[]
  readonly sum: number
}

/** Writes requests of one version, one after the other. */
export interface SeriesWriter {
  /** Encoded labels are valid for one generation. */
  readonly generation: string
  /** Samples of the request so far. */
  readonly samples: number
  /** Size of the request so far, before it is packed. Unit: bytes. */
  readonly bytes: number
  labels(labels: SortedLabels): EncodedLabels
  /** Adds a series; its labels are of this writer. */
  series(labels: EncodedLabels, metric: MetricInfo, samples: SeriesSamples): void
  /** Adds a series of native histograms. Undefined if the version has none. */
  histograms?(labels: EncodedLabels, metric: MetricInfo, histograms: readonly EdgesHistogram[]): void
  /** The packed request. The next request begins. */
  finish(): Buffer
}

/**
 * The words of the value that says that a series has ended: a NaN with its own bits, `0x7ff0000000000002`. Any other
 * NaN is written as `0x7ff8000000000001`. Source: Remote-Write 1.0, `value.StaleNaN` and `value.NormalNaN`.
 */
export const STALE = { low: 2, high: 0x7ff0_0000 } as const
const NAN = { low: 1, high: 0x7ff8_0000 } as const

/** Room for some samples. */
export function roomForSamples(count: number): SeriesSamples {
  const [timesMs, startsMs] = [new Float64Array(count), new Float64Array(count)]
  return { count: 0, timesMs, low: new Uint32Array(count), high: new Uint32Array(count), startsMs }
}

/** Adds the words of a double. Grows the arrays. */
function addSample(samples: SeriesSamples, timeMs: number, low: number, high: number): void {
  const at = samples.count++
  if (at >= samples.timesMs.length) grow(samples)
  samples.timesMs[at] = timeMs
  samples.low[at] = low
  samples.high[at] = high
  samples.startsMs[at] = 0
}

/** Adds a double; a NaN of any kind is the usual NaN. */
export function addDouble(samples: SeriesSamples, timeMs: number, low: number, high: number): void {
  const isNan = (high & 0x7ff0_0000) === 0x7ff0_0000 && ((high & 0xf_ffff) | low) !== 0
  addSample(samples, timeMs, isNan ? NAN.low : low, isNan ? NAN.high : high)
}

/** Adds the marker of staleness. */
export function addStale(samples: SeriesSamples, timeMs: number): void {
  addSample(samples, timeMs, STALE.low, STALE.high)
}

const double = new Float64Array(1)
const words = new Uint32Array(double.buffer)

/** Adds a whole number of 64 bits, as the nearest double. */
export function addInteger(samples: SeriesSamples, timeMs: number, low: number, high: number, isSigned: boolean): void {
  double[0] = (isSigned ? high | 0 : high) * 2 ** 32 + low
  addSample(samples, timeMs, words[0]!, words[1]!)
}

function grow(samples: SeriesSamples): void {
  const larger = roomForSamples(samples.timesMs.length * 2)
  larger.timesMs.set(samples.timesMs)
  larger.low.set(samples.low)
  larger.high.set(samples.high)
  larger.startsMs.set(samples.startsMs)
  Object.assign(samples, larger, { count: samples.count })
}

/**
 * The labels of a series, sorted, with its name. Names that come first win; empty values are left out, because they
 * mean the same as no label.
 */
export function sortedLabels(
  metric: string,
  ...groups: readonly (readonly (readonly [name: string, value: string])[])[]
): SortedLabels {
  const labels = new Map<string, string>([['__name__', metric]])
  for (const group of groups)
    for (const [name, value] of group) if (value !== '' && !labels.has(name)) labels.set(name, value)
  return [...labels].sort(([a], [b]) => (a < b ? -1 : 1))
}

/** The value of a sample. */
export function valueAt({ low, high }: SeriesSamples, index: number): number {
  words[0] = low[index]!
  words[1] = high[index]!
  return double[0]!
}

/** Whether a sample is the marker of staleness. */
export function isStaleAt({ low, high }: SeriesSamples, index: number): boolean {
  return low[index] === STALE.low && high[index] === STALE.high
}
