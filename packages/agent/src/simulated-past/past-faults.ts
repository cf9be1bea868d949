import type { Simulation } from '../sources/simulator/simulation.ts'
import { msOfSeconds } from '../sources/simulator/time.ts'

/** Effects with a shorter healthy time between them belong to one fault. Unit: milliseconds. */
const HEALTHY_LEAST_MS = 10_000

/** The time of a fault. Unit: milliseconds since the Unix epoch. */
export interface PastFault {
  readonly onsetMs: number
  readonly endMs: number
}

/** The faults of a simulated node, by their onset. */
export function faultsOf({ effects }: Pick<Simulation, 'effects'>): PastFault[] {
  const spans = effects.flatMap((one) => one.spans).toSorted((a, b) => a.fromS - b.fromS)
  const faults: { onsetMs: number; endMs: number }[] = []
  for (const { fromS, toS } of spans) {
    const [onsetMs, endMs] = [msOfSeconds(fromS), msOfSeconds(toS)]
    const last = faults.at(-1)
    if (last === undefined || onsetMs - last.endMs > HEALTHY_LEAST_MS) faults.push({ onsetMs, endMs })
    else last.endMs = Math.max(last.endMs, endMs)
  }
  return faults
}

/** The part of a fault that is observed in detail. Unit: milliseconds since the Unix epoch. */
export interface ObservedFault {
  readonly fromMs: number
  readonly toMs: number
  /** When its events may begin. */
  readonly startsFromMs: number
  readonly startsToMs: number
}
