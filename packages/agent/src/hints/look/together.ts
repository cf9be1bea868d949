import type { Signal } from '../watch/signal.ts'
import type { Look } from './look.ts'

/** Devices that are looked at together. */
interface Together {
  /** Each at the same moments. Where a device has no sample of a moment, its value is not known. */
  readonly looks: readonly Look[]
  /** How many moments there are within the time that was asked for. */
  readonly moments: number
}

/**
 * Devices at the same moments within the last `overMs`: those of the device that gave most samples of a signal then. A
 * device that missed a sample is not compared with others at another phase of their work.
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
