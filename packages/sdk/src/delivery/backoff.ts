import type { DeliveryLimits } from './config.ts'

type Backoff = Readonly<Required<Pick<DeliveryLimits, 'backoffInitialMs' | 'backoffMaxMs' | 'backoffJitter'>>>

/**
 * The pause after failed attempt number `attempt`, from 1: doubling up to the longest, less a random part of at most
 * `backoffJitter`.
 */
export function backoffMs(attempt: number, limits: Backoff, random: () => number): number {
  const fullMs = Math.min(limits.backoffMaxMs, limits.backoffInitialMs * 2 ** (attempt - 1))
  return fullMs * (1 - limits.backoffJitter * random())
}
