import { STREAM, uniform } from '../model/hash.ts'
import { celsiusAfter } from '../model/heat.ts'
import type { GpuSegment } from '../model/segment.ts'

const DAY_S = 86_400
/** Largest change of the inlet temperature over a day. Unit: degrees Celsius. */
const DAY_CELSIUS = 1.5
/** Amplitude and period of the sensor's ripple. */
const RIPPLE_CELSIUS = 0.7
const RIPPLE_S = 20

/** Temperature of a GPU at `t`, `elapsedS` after the start of its segment. Unit: degrees Celsius. */
export function gpuCelsius({ startCelsius, steadyCelsius }: GpuSegment, elapsedS: number, t: number): number {
  const day = DAY_CELSIUS * Math.sin((2 * Math.PI * (t - DAY_S * 0.375)) / DAY_S)
  return celsiusAfter(startCelsius, steadyCelsius, elapsedS) + day
}

/** Temperature of a GPU's memory. The difference grows with load, and so with temperature. */
export function memoryCelsius(celsius: number): number {
  return celsius + (8 + 0.16 * Math.max(0, celsius - 28))
}

/** Ripple of the sensor of a GPU at `t`. */
export function rippleCelsius(seed: number, key: number, t: number): number {
  return RIPPLE_CELSIUS * (2 * uniform(seed, STREAM.ripple, key + 64, Math.floor(t / RIPPLE_S)) - 1)
}
