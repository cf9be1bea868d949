import assert from 'node:assert/strict'
import { buckets, defineType, label, timestamp } from '../src/index.ts'
import type { QueryResult } from '../src/internal/index.ts'
import type { Random } from './random.ts'

/** Period of the records. Unit: milliseconds. */
const PERIOD_MS = 1000
/** Two records that are further apart say nothing of the time between them. */
const GAP_MS = 5 * PERIOD_MS

/** One record of a histogram. */
export interface Counted {
  readonly timeMs: number
  readonly device: string
  readonly counts: readonly bigint[]
}

/** A type with one histogram, whose metric is `waits_seconds`. */
export function waitsType(edges: readonly number[], kind: 'u32' | 'u64' = 'u64') {
  const seconds = buckets(kind, edges, { unit: 'seconds' })
  return defineType('waits', 'Waits', { time: timestamp(), device: label(), seconds })
}

/** A record as a source reports it. */
export function recordOf({ timeMs, device, counts }: Counted) {
  // A u32 takes numbers only, a u64 either.
  const seconds = counts.map((count) => (count < 2n ** 32n ? Number(count) : count)) as number[]
  return { time: BigInt(timeMs) * 1_000_000n, device, seconds }
}

/** Records of a device with gaps, restarts of all bins, and restarts that only some of the bins show. */
export function drawCounted(random: Random, device: string, bins: number, fromMs: number, toMs: number): Counted[] {
  const found: Counted[] = []
  let counts = Array.from({ length: bins }, () => (random.chance(0.3) ? 2n ** 60n : 0n))
  for (let timeMs = fromMs + random.integer(1, PERIOD_MS); timeMs < toMs; timeMs += PERIOD_MS) {
    if (random.chance(0.02)) timeMs += random.integer(1, 40) * PERIOD_MS
    if (timeMs >= toMs) break
    if (random.chance(0.02)) counts = counts.map((_, bin) => BigInt(bin === 0 ? 0 : random.integer(0, 50)))
    counts = counts.map((count) => count + BigInt(random.chance(0.5) ? 0 : random.integer(0, 1000)))
    found.push({ timeMs, device, counts })
  }
  return found
}

/**
 * What each bin gained in `(atMs - stepMs, atMs]` by pairs of records, and their time; undefined if none says so.
 */
export function gainedIn(
  records: readonly Counted[],
  atMs: number,
  stepMs: number,
): { readonly gains: readonly number[]; readonly elapsedMs: number } | undefined {
  let gains: bigint[] | undefined
  let elapsedMs = 0
  for (const [i, { timeMs, counts }] of records.entries()) {
    const before = records[i - 1]
    if (before === undefined || timeMs <= atMs - stepMs || timeMs > atMs || timeMs - before.timeMs > GAP_MS) continue
    const gained = counts.map((count, bin) => count - (before.counts[bin] ?? 0n))
    if (gained.some((gain) => gain < 0n)) continue
    gains = gained.map((gain, bin) => gain + (gains?.[bin] ?? 0n))
    elapsedMs += timeMs - before.timeMs
  }
  return gains && { gains: gains.map(Number), elapsedMs }
}

/** Checks an answer for `increase` and for `rate` of one device against the plain computation on its records. */
export function assertBins(
  { series, function: asked }: QueryResult,
  times: Float64Array,
  stepMs: number,
  records: readonly Counted[],
  edges: readonly number[],
): void {
  const device = records[0]?.device
  const own = series.filter(({ labels }) => labels.device === device)
  assert.deepEqual(
    own.map(({ bin }) => bin),
    Array.from({ length: edges.length + 1 }, (_, i) => ({ above: edges[i - 1] ?? null, upTo: edges[i] ?? null })),
  )
  const expected = Array.from(times, (atMs) => gainedIn(records, atMs, stepMs))
  assert.ok(expected.some((step) => step !== undefined))
  for (const [bin, { values }] of own.entries()) {
    const wanted = expected.map((step) => {
      if (step === undefined) return Number.NaN
      const gain = step.gains[bin] ?? Number.NaN
      return asked === 'rate' ? (gain / step.elapsedMs) * 1000 : gain
    })
    assert.deepEqual([...values], wanted, `bin ${bin} of ${device}`)
  }
}
