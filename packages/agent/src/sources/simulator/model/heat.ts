import type { GpuPlace } from '../classes/node-class.ts'
import type { CombinedGpu } from './combine.ts'

/**
 * Temperatures at which software and hardware slow a GPU down, and at which each slowdown ends. Unit: degrees Celsius.
 */
export const LIMITS = { soft: 87, hard: 89, softEnd: 86, hardEnd: 84, shutdown: 95, memory: 95 } as const

/** Time in which a GPU covers 63 % of the distance to its final temperature. Unit: seconds. */
const HEAT_TIME_S = 45
/** Temperature of the inlet air. Unit: degrees Celsius. */
const INLET_CELSIUS = 22
/** Warming by the GPU's own power and by the power of the node, for a card of 700 W. Unit: degrees Celsius per watt. */
const OWN = 0.059
const NODE = 0.022
/** Reduction of power by software for each degree above its limit, as a share. */
const POWER_PER_CELSIUS = 0.03

/** Whether heat limits a GPU, and the remaining share of its power. */
export interface Heat {
  readonly state: 'none' | 'soft' | 'hard'
  readonly powerFactor: number
}

/** A GPU that heat does not limit. */
export const COOL: Heat = { state: 'none', powerFactor: 1 }

/** Temperature that a GPU approaches. */
export function steadyCelsius(place: GpuPlace, effect: CombinedGpu, ownWatts: number, nodeWatts: number): number {
  const scale = 700 / place.model.powerLimitWatts
  const inlet = INLET_CELSIUS + (effect.inletCelsius ?? 0) + positionCelsius(place)
  return inlet + scale * (OWN * (effect.coolingFactor ?? 1) * ownWatts + NODE * nodeWatts)
}

/** GPUs further from the fans get warmer air. */
function positionCelsius({ index }: GpuPlace): number {
  return ((index % 4) - 1.5) * 1.7
}

/**
 * Limitation by software for a GPU that would otherwise reach `freeCelsius` with `ownWatts`, such that power and
 * temperature agree.
 */
export function softHeat(place: GpuPlace, effect: CombinedGpu, freeCelsius: number, ownWatts: number): Heat {
  const own = ((700 * OWN) / place.model.powerLimitWatts) * (effect.coolingFactor ?? 1) * ownWatts
  const perShare = 1 / POWER_PER_CELSIUS
  const factor = (LIMITS.soft + perShare - (freeCelsius - own)) / (own + perShare)
  return { state: 'soft', powerFactor: Math.min(1, Math.max(0.5, factor)) }
}

/** A GPU that hardware limits. */
const HARD: Heat = { state: 'hard', powerFactor: 0.5 }

/** Temperature after some time on the way from `start` to `steady`. */
export function celsiusAfter(start: number, steady: number, seconds: number): number {
  return steady + (start - steady) * Math.exp(-seconds / HEAT_TIME_S)
}

/** Time at which a GPU reaches `limit` on the way from `start` to `steady`; infinite if never. Unit: seconds. */
export function secondsUntil(start: number, steady: number, limit: number): number {
  const share = (limit - steady) / (start - steady)
  return share > 0 && share < 1 ? -HEAT_TIME_S * Math.log(share) : Number.POSITIVE_INFINITY
}

/** New heat state of a GPU at a temperature. */
export function heatAt(heat: Heat, celsius: number): Heat {
  const [above, below] = [celsius + 1e-6, celsius - 1e-6]
  if (heat.state === 'hard') return below <= LIMITS.hardEnd ? COOL : HARD
  if (above >= LIMITS.hard) return HARD
  if (heat.state === 'none') return above >= LIMITS.soft ? { state: 'soft', powerFactor: 1 } : COOL
  return below <= LIMITS.softEnd ? COOL : heat
}
