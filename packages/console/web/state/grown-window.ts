/** Least that a window shows while it grows. Unit: milliseconds. */
const LEAST_MS = 10_000

/**
 * Start of a live window while it grows from the first stored sample. Missing samples after that are gaps.
 *
 * @param firstMs Undefined if unknown.
 */
export function grownFromMs(toMs: number, windowMs: number, firstMs: number | undefined): number {
  const fullMs = toMs - windowMs
  if (firstMs === undefined || firstMs <= fullMs) return fullMs
  return Math.max(fullMs, Math.min(Math.floor(firstMs / 1_000) * 1_000, toMs - LEAST_MS))
}
