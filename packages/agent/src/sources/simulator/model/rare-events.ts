import { STREAM, uniform } from './hash.ts'

/**
 * How many rare events there were by `t`: on average one in `1/perS` seconds, each at a time of its own. Never falls as
 * time goes on.
 */
export function rareEvents(seed: number, key: number, perS: number, t: number): number {
  const expected = perS * t
  const whole = Math.floor(expected)
  return whole + (expected >= whole + uniform(seed, STREAM.events, key, whole) ? 1 : 0)
}

/**
 * Bursts of faults: what share of `t`'s periods has gone by in bursts, as time. One burst of `BURST_S` in each period;
 * rises from 0 by `PERIOD_S` a period.
 */
export function burstTime(t: number, key: number): number {
  const shifted = t + (key % 7)
  const period = Math.floor(shifted / PERIOD_S)
  return PERIOD_S * (period + Math.min(1, (shifted - period * PERIOD_S) / BURST_S))
}

const PERIOD_S = 12
const BURST_S = 1.2
