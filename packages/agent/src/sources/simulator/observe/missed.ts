import { STREAM, uniform } from '../model/hash.ts'

const MINUTE_S = 60

/**
 * Returns which of `count` devices does not answer at a moment: one device per minute, for a second; −1 for none. A
 * single device always answers.
 */
export function missedDevice(seed: number, count: number, t: number): number {
  if (count < 2) return -1
  const minute = Math.floor(t / MINUTE_S)
  const start = minute * MINUTE_S + uniform(seed, STREAM.missed, 0, minute) * (MINUTE_S - 1)
  return t >= start && t < start + 1 ? Math.floor(uniform(seed, STREAM.missed, 1, minute) * count) : -1
}
