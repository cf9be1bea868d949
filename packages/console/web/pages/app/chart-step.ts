/** Most points of a window. The API of apps has the same limit. */
const POINTS = 300

/**
 * Step of the charts of an app: a multiple of the sample interval, with at most 300 points in a window. A finer step
 * would repeat values between samples.
 *
 * @param intervalMs Interval of the samples. 0 if unknown; the step of the page is then used. Unit: milliseconds.
 */
export function chartStep(windowMs: number, intervalMs: number, pageMs: number): number {
  if (!(intervalMs > 0)) return pageMs
  return Math.ceil(Math.max(intervalMs, windowMs / POINTS) / intervalMs) * intervalMs
}
