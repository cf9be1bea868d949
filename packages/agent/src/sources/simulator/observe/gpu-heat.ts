import { STREAM, uniform } from '../model/hash.ts'
import { celsiusAfter } from '../model/heat.ts'
import type { GpuSegment } from '../model/segment.ts'

const DAY_S = 86_400
/** Largest swing of the air that comes in, over a day. Unit: degrees Celsius. */
const DAY_CELSIUS = 1.5
/** What the sensor adds, or takes away, and how long it does so. */
const RIPPLE_CELSIUS = 0.7
const RIPPLE_S = 20

/** Temperature of a GPU at `t`, which is `elapsedS` after its segment began. Unit: degrees Celsius. */
export function gpuCelsius({ startCelsius, steadyCelsius }: GpuSegment, elapsedS: number, t: number): number {
  const day = DAY_CELSIUS * Math.sin((2 * Math.PI * (t - DAY_S * 0.375)) / DAY_S)
  return celsiusAfter(startCelsius, steadyCelsius, elapsedS) + day
}

/** Temperature of its memory: the distance grows with load, and so with temperature. */
export function memoryCelsius(celsius: number): number {
  return celsius + (8 + 0.16 * Math.max(0, celsius - 28))
}

/** What the sensor of the GPU of a key adds at `t`. */
export function rippleCelsius(seed: number, key: number, t: number): number {
  return RIPPLE_CELSIUS * (2 * uniform(seed, STREAM.ripple, key + 64, Math.floor(t / RIPPLE_S)) - 1)
}
