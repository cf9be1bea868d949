import type { DeliveryLimits } from './config.ts'

type Backoff = Readonly<Required<Pick<DeliveryLimits, 'backoffInitialMs' | 'backoffMaxMs' | 'backoffJitter'>>>

/**
 * The pause after a failed attempt. It doubles with each attempt (`attempt` starts at 1) up to `backoffMaxMs`. A random
 * part of at most `backoffJitter` is subtracted.
 */
export function backoffMs(attempt: number, limits: Backoff, random: () => number): number {
  const fullMs = Math.min(limits.backoffMaxMs, limits.backoffInitialMs * 2 ** (attempt - 1))
  return fullMs * (1 - limits.backoffJitter * random())
}
