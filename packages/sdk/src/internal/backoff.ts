/** Pauses between attempts. Unit: milliseconds. */
export interface Backoff {
  readonly backoffInitialMs: number
  readonly backoffMaxMs: number
  /** Range: 0 to 1. */
  readonly backoffJitter: number
}

/**
 * The pause after a failed attempt. It doubles with each attempt (`attempt` starts at 1) up to `backoffMaxMs`. A random
 * part of at most `backoffJitter` is subtracted.
 */
export function backoffMs(attempt: number, limits: Backoff, random: () => number): number {
  const fullMs = Math.min(limits.backoffMaxMs, limits.backoffInitialMs * 2 ** (attempt - 1))
  return fullMs * (1 - limits.backoffJitter * random())
}

/**
 * Reads seconds or a date (RFC 9110) as milliseconds from now; `undefined` if the text is neither, or the date is past.
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined
  const afterMs = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - nowMs
  return afterMs > 0 ? afterMs : undefined
}
