/** Points of a window at most, as the routes of apps have it. */
const POINTS = 300

/**
 * Step of the charts of an app: whole samples, and at most 300 of them in a window. A finer one would draw values that
 * are held as if they were samples.
 *
 * @param intervalMs Distance of the samples; 0 if it is not known: then the step is that of the page. Unit:
 * milliseconds.
 */
export function chartStep(windowMs: number, intervalMs: number, pageMs: number): number {
  if (!(intervalMs > 0)) return pageMs
  return Math.ceil(Math.max(intervalMs, windowMs / POINTS) / intervalMs) * intervalMs
}
