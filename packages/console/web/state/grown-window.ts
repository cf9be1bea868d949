/** Least that a window shows while it grows. Unit: milliseconds. */
const LEAST_MS = 10_000

/**
 * From when on a window that follows now is shown: it grows from the first sample that is kept. What is missing after
 * that sample is a gap.
 *
 * @param firstMs Undefined if it is not known when that was.
 */
export function grownFromMs(toMs: number, windowMs: number, firstMs: number | undefined): number {
  const fullMs = toMs - windowMs
  if (firstMs === undefined || firstMs <= fullMs) return fullMs
  return Math.max(fullMs, Math.min(Math.floor(firstMs / 1_000) * 1_000, toMs - LEAST_MS))
}
