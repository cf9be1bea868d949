import type { CombinedNic } from './combine.ts'
import { deviceKey, STREAM, uniform } from './hash.ts'

/** Distribution of bit errors over the lanes of a healthy port. */
const LANE_SHARES = [0.21, 0.29, 0.27, 0.23]

/** A lane's share of the bit errors of its port. */
export function laneShare(lane: number, lanes: number, worstLane: number | undefined): number {
  if (worstLane !== undefined && worstLane < lanes) return worstLane === lane ? 0.97 : 0.03 / (lanes - 1)
  let total = 0
  for (let each = 0; each < lanes; each++) total += LANE_SHARES[each] ?? 0
  return (LANE_SHARES[lane] ?? 0) / total
}

/** Bit error rate of a link before correction: a healthy rate between 10⁻⁹ and 10⁻⁷, or a worse rate from effects. */
export function bitErrorRate(seed: number, nic: number, effect: CombinedNic): number {
  const healthy = 10 ** (-9 + 2 * uniform(seed, STREAM.device, deviceKey('nic', nic), 3))
  return Math.max(healthy, effect.bitErrorRate ?? 0)
}
