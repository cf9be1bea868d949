import type { Signal } from '../watch/signal.ts'
import type { Look } from './look.ts'

/** Devices that are looked at together. */
interface Together {
  /** Each at the same moments. What one of them does not know there is not known. */
  readonly looks: readonly Look[]
  /** How many moments there are within the time that was asked for. */
  readonly moments: number
}

/**
 * Devices at the moments of a signal within the last `overMs`, of the one that gave most samples then: a device that
 * missed one is not compared with others at another phase of their work.
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
