import type { HintSignal } from '../watch/signal.ts'
import type { Inspection } from './inspection.ts'

/** Devices that are compared at the same moments. */
interface Together {
  /** Each device at the same moments. A value is unknown if the device has no sample at a moment. */
  readonly inspections: readonly Inspection[]
  /** Number of moments within the requested time. */
  readonly moments: number
}

/**
 * Devices at the same moments within the last `overMs`: the sample times of the device with most samples of a signal. A
 * device that missed a sample is so never compared with another phase of the others' work.
 */
export function together(inspections: readonly Inspection[], signal: HintSignal, overMs: number): Together {
  const newestMs = Math.max(...inspections.map((inspection) => inspection.lastSeenMs(signal)))
  let reference: Inspection | undefined
  let moments = 0
  for (const inspection of inspections) {
    const samples = inspection.samplesSince(signal, newestMs - overMs)
    if (samples <= moments) continue
    reference = inspection
    moments = samples
  }
  const as = reference
  return { inspections: as === undefined ? inspections : inspections.map((inspection) => inspection.as(as)), moments }
}
