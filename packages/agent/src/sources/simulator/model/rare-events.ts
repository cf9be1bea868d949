import { STREAM, uniform } from './hash.ts'

/**
 * Number of rare events up to `t`: on average one in `1/perS` seconds, each at a random time. Never decreases with
 * time.
 */
export function rareEvents(seed: number, key: number, perS: number, t: number): number {
  const expected = perS * t
  const whole = Math.floor(expected)
  return whole + (expected >= whole + uniform(seed, STREAM.events, key, whole) ? 1 : 0)
}

/**
 * Time spent in bursts of faults up to `t`. Each period has one burst of `BURST_S`; the result grows by `PERIOD_S` per
 * period.
 */
export function burstTime(t: number, key: number): number {
  const shifted = t + (key % 7)
  const period = Math.floor(shifted / PERIOD_S)
  return PERIOD_S * (period + Math.min(1, (shifted - period * PERIOD_S) / BURST_S))
}

const PERIOD_S = 12
const BURST_S = 1.2
