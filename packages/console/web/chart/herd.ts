import { medianInPlace } from './quickselect.ts'

/** How far a member must stand from the median, in robust deviations, to be lit. */
export const LIT_ABOVE = 4
/** Least robust deviation as a share of the scale. Smaller deviations are invisible noise. */
const DEVIATION_LEAST_SHARE = 0.02
/** Deviations below which a highlighted member is released. */
const LIT_BELOW = 2.5
/**
 * Consecutive odd samples needed, and the least duration for denser samples. The edge of a burst is no state. Unit:
 * milliseconds.
 */
export const LIT_RUN_COUNT = 3
const LIT_RUN_MS = 1_000
/** Most members that are lit at once. */
const LIT_LIMIT_COUNT = 3
/** From this number of like members on they are a herd. */
export const HERD_MIN_COUNT = 4

/** The herd at every sample: smallest, middle and largest of the members that are not lit. */
export interface HerdSummary {
  readonly low: Float64Array
  readonly median: Float64Array
  readonly high: Float64Array
  /** Positions of the lit members, the oddest first. */
  readonly lit: readonly number[]
  /** Members in the band. */
  readonly peerCount: number
}

/** The inputs that decide which members are lit. */
interface LitOptions {
  readonly scale: number
  readonly stepMs: number
  readonly pinned: ReadonlySet<string>
}

interface Pass {
  readonly median: Float64Array
  readonly spread: Float64Array
}

/**
 * Follows a herd over a window that slides: only samples that are new are computed.
 *
 * A member is lit when it stands more than 4 robust deviations (1.4826 × MAD, at least 2 % of the scale) from the
 * median of all in 3 samples running, over a second where they are less than a third of one apart, and let go below
 * 2.5. What was odd anywhere in the window stays lit in it.
 */
export class Herd {
  #firstIndex = 0
  #memberKey = ''
  #all: Pass = { median: new Float64Array(0), spread: new Float64Array(0) }
  #peers: Omit<HerdSummary, 'lit' | 'peerCount'> = {
    low: new Float64Array(0),
    median: new Float64Array(0),
    high: new Float64Array(0),
  }
  #peersKey = ''

  /**
   * Updates the summary.
   *
   * `firstIndex` is the first sample on the grid. `from` and `to` limit the judged samples. `pinned` members are always
   * lit. `scale` is the height of the axis in raw units. `stepMs` is the distance of two samples.
   */
  update(
    members: readonly { readonly key: string; readonly values: Float64Array }[],
    window: { readonly firstIndex: number; readonly from: number; readonly to: number },
    options: LitOptions,
  ): HerdSummary {
    const count = members[0]?.values.length ?? 0
    const memberKey = members.map(({ key }) => key).join('\u0001')
    const columns = members.map(({ values }) => values)
    const known = memberKey === this.#memberKey ? this.#firstIndex + this.#all.median.length : Number.NEGATIVE_INFINITY
    const shift = window.firstIndex - this.#firstIndex
    // The newest known sample is computed again: it may have been half there.
    const start = shift < 0 ? 0 : Math.max(0, Math.min(count, known - window.firstIndex - 1))
    this.#all = {
      median: slid(this.#all.median, shift, start, count),
      spread: slid(this.#all.spread, shift, start, count),
    }
    summarise(columns, start, count, this.#all)
    const lit = findLit(members, this.#all, window, options)
    const peersKey = `${memberKey}|${lit.join()}`
    const peerStart = peersKey === this.#peersKey ? start : 0
    const { low, median, high } = this.#peers
    this.#peers = {
      low: slid(low, shift, peerStart, count),
      median: slid(median, shift, peerStart, count),
      high: slid(high, shift, peerStart, count),
    }
    const peers = columns.filter((_, position) => !lit.includes(position))
    bound(peers, peerStart, count, this.#peers)
    this.#firstIndex = window.firstIndex
    this.#memberKey = memberKey
    this.#peersKey = peersKey
    return { ...this.#peers, lit, peerCount: peers.length }
  }
}

/**
 * A new array of `count` samples; its first `start` samples are copied from `old`, which starts `shift` samples
 * earlier.
 */
function slid(old: Float64Array, shift: number, start: number, count: number): Float64Array {
  const next = new Float64Array(count)
  if (start > 0) next.set(old.subarray(shift, shift + start))
  return next
}

function gather(columns: readonly Float64Array[], at: number, scratch: Float64Array): number {
  let count = 0
  for (let m = 0; m < columns.length; m++) {
    const value = columns[m]![at]!
    if (!Number.isNaN(value)) scratch[count++] = value
  }
  return count
}

/** The middle of some values and how far they stand from it: 1.4826 × MAD. NaN is left out. */
export function spreadOf(values: readonly number[]): { readonly median: number; readonly spread: number } {
  const scratch = Float64Array.from(values.filter((value) => !Number.isNaN(value)))
  const median = medianInPlace(scratch, scratch.length)
  for (let k = 0; k < scratch.length; k++) scratch[k] = Math.abs(scratch[k]! - median)
  return { median, spread: 1.4826 * medianInPlace(scratch, scratch.length) }
}

/**
 * How far a value stands from the median of its herd, in robust deviations: 1.4826 × MAD, at least 2 % of the scale.
 */
export function deviationOf(value: number, median: number, spread: number, scale: number): number {
  return Math.abs(value - median) / Math.max(spread, scale * DEVIATION_LEAST_SHARE, Number.MIN_VALUE)
}

function summarise(columns: readonly Float64Array[], start: number, end: number, into: Pass): void {
  const scratch = new Float64Array(columns.length)
  for (let i = start; i < end; i++) {
    const count = gather(columns, i, scratch)
    const median = medianInPlace(scratch, count)
    for (let k = 0; k < count; k++) scratch[k] = Math.abs(scratch[k]! - median)
    into.median[i] = median
    into.spread[i] = 1.4826 * medianInPlace(scratch, count)
  }
}

function bound(
  columns: readonly Float64Array[],
  start: number,
  end: number,
  into: { readonly low: Float64Array; readonly median: Float64Array; readonly high: Float64Array },
): void {
  const scratch = new Float64Array(columns.length)
  for (let i = start; i < end; i++) {
    const count = gather(columns, i, scratch)
    let low = Number.POSITIVE_INFINITY
    let high = Number.NEGATIVE_INFINITY
    for (let k = 0; k < count; k++) {
      low = Math.min(low, scratch[k]!)
      high = Math.max(high, scratch[k]!)
    }
    into.low[i] = count === 0 ? Number.NaN : low
    into.high[i] = count === 0 ? Number.NaN : high
    into.median[i] = medianInPlace(scratch, count)
  }
}

function findLit(
  members: readonly { readonly key: string; readonly values: Float64Array }[],
  all: Pass,
  window: { readonly from: number; readonly to: number },
  options: LitOptions,
): number[] {
  const runCount = Math.max(LIT_RUN_COUNT, Math.ceil(LIT_RUN_MS / options.stepMs))
  const ranked = members.flatMap((member, position) => {
    const oddness = oddnessOf(member.values, all, window, { scale: options.scale, runCount })
    const weight = options.pinned.has(member.key) ? Number.POSITIVE_INFINITY : oddness
    return weight > 0 ? [{ position, weight }] : []
  })
  ranked.sort((a, b) => b.weight - a.weight)
  return ranked.slice(0, LIT_LIMIT_COUNT).map(({ position }) => position)
}

/**
 * The largest deviation of a member while it was lit, 0 if it never was. One that is lit at the end counts ten
 * times.
 */
function oddnessOf(
  values: Float64Array,
  all: Pass,
  window: { readonly from: number; readonly to: number },
  { scale, runCount }: { readonly scale: number; readonly runCount: number },
): number {
  let run = 0
  let isLit = false
  let largest = 0
  for (let i = window.from; i <= window.to; i++) {
    const deviation = deviationOf(values[i]!, all.median[i]!, all.spread[i]!, scale)
    if (deviation > LIT_ABOVE) {
      if (++run >= runCount) isLit = true
    } else {
      run = 0
      if (deviation < LIT_BELOW) isLit = false
    }
    if (isLit && deviation > largest) largest = deviation
  }
  return isLit ? largest * 10 : largest
}
