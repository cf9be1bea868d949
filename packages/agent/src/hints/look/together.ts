import type { Signal } from '../watch/signal.ts'
import type { Look } from './look.ts'

/** Devices that are compared at the same moments. */
interface Together {
  /** Each device at the same moments. A value is unknown if the device has no sample at a moment. */
  readonly looks: readonly Look[]
  /** Number of moments within the requested time. */
  readonly moments: number
}

/**
 * Devices at the same moments within the last `overMs`: the sample times of the device with most samples of a signal. A
 * device that missed a sample is so never compared with another phase of the others' work.
 */
export function together(looks: readonly Look[], signal: Signal, overMs: number): Together {
  const newestMs = Math.max(...looks.map((look) => look.lastSeenMs(signal)))
  let reference: Look | undefined
  let moments = 0
  for (const look of looks) {
    const samples = look.samplesSince(signal, newestMs - overMs)
    if (samples <= moments) continue
    reference = look
    moments = samples
  }
  const as = reference
  return { looks: as === undefined ? looks : looks.map((look) => look.as(as)), moments }
}
