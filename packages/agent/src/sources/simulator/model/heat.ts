import type { GpuPlace } from '../classes/node-class.ts'
import type { CombinedGpu } from './combine.ts'

/** Temperatures at which a GPU slows down: by software, by hardware, and where each ends. Unit: degrees Celsius. */
export const LIMITS = { soft: 87, hard: 89, softEnd: 86, hardEnd: 84, shutdown: 95, memory: 95 } as const

/** Time in which a GPU comes 63 % closer to its final temperature. Unit: seconds. */
const HEAT_TIME_S = 45
/** Temperature of the air that comes in. Unit: degrees Celsius. */
const INLET_CELSIUS = 22
/** Warming by the GPU's own power, and by that of the node, of a card of 700 W. Unit: degrees Celsius a watt. */
const OWN = 0.059
const NODE = 0.022
/** Share of its power that software takes away for each degree above its limit. */
const POWER_PER_CELSIUS = 0.03

/** Whether heat holds a GPU back, and how much power it leaves. */
export interface Heat {
  readonly state: 'none' | 'soft' | 'hard'
  readonly powerFactor: number
}

/** A GPU that heat does not hold back. */
export const COOL: Heat = { state: 'none', powerFactor: 1 }

/** Temperature to which a GPU goes. */
export function steadyCelsius(place: GpuPlace, effect: CombinedGpu, ownWatts: number, nodeWatts: number): number {
  const scale = 700 / place.model.powerLimitWatts
  const inlet = INLET_CELSIUS + (effect.inletCelsius ?? 0) + positionCelsius(place)
  return inlet + scale * (OWN * (effect.coolingFactor ?? 1) * ownWatts + NODE * nodeWatts)
}

/** GPUs further from the fans get warmer air, those nearer cooler. */
function positionCelsius({ index }: GpuPlace): number {
  return ((index % 4) - 1.5) * 1.7
}

/**
 * How software holds a GPU back that would otherwise go to `freeCelsius` with `ownWatts`: so that power and temperature
 * agree.
 */
export function softHeat(place: GpuPlace, effect: CombinedGpu, freeCelsius: number, ownWatts: number): Heat {
  const own = ((700 * OWN) / place.model.powerLimitWatts) * (effect.coolingFactor ?? 1) * ownWatts
  const perShare = 1 / POWER_PER_CELSIUS
  const factor = (LIMITS.soft + perShare - (freeCelsius - own)) / (own + perShare)
  return { state: 'soft', powerFactor: Math.min(1, Math.max(0.5, factor)) }
}

/** A GPU that hardware holds back. */
const HARD: Heat = { state: 'hard', powerFactor: 0.5 }

/** Temperature some time after it was `start` on its way to `steady`. */
export function celsiusAfter(start: number, steady: number, seconds: number): number {
  return steady + (start - steady) * Math.exp(-seconds / HEAT_TIME_S)
}

/** When a GPU on its way from `start` to `steady` is at `limit`; infinite where it never is. Unit: seconds. */
export function secondsUntil(start: number, steady: number, limit: number): number {
  const share = (limit - steady) / (start - steady)
  return share > 0 && share < 1 ? -HEAT_TIME_S * Math.log(share) : Number.POSITIVE_INFINITY
}

/** The heat of a GPU that has reached a temperature. */
export function heatAt(heat: Heat, celsius: number): Heat {
  const [above, below] = [celsius + 1e-6, celsius - 1e-6]
  if (heat.state === 'hard') return below <= LIMITS.hardEnd ? COOL : HARD
  if (above >= LIMITS.hard) return HARD
  if (heat.state === 'none') return above >= LIMITS.soft ? { state: 'soft', powerFactor: 1 } : COOL
  return below <= LIMITS.softEnd ? COOL : heat
}
