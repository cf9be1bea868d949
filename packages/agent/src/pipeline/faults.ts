import { counter, label, type Source, timestamp } from '@sonde/sdk'
import { defineOwnType } from '@sonde/sdk/internal'
import type { Logger } from 'pino'

/** A place that fails again and again is a line in the log so often. Unit: milliseconds. */
const EVERY_MS = 60_000

/** The parts of the agent whose exceptions are caught separately. */
export type FaultPlace = 'hints' | 'life' | 'live' | 'pods' | 'self' | 'service' | 'simulators' | 'store' | 'traceback'

/** What was caught. */
export const faultType = defineOwnType(
  'sonde_fault',
  'Errors in the code of Sonde that were caught without ending the process',
  {
    time: timestamp(),
    place: label('Part of the agent that failed: hints, life, live, pods, self, service, store or traceback'),
    faults_total: counter('u64', { help: 'Exceptions that were caught' }),
  },
)

interface Caught {
  count: number
  toldMs: number
}

/**
 * Unexpected exceptions, caught at the boundary of a part. All are counted; the log has one line a minute for each
 * part.
 */
export class Faults {
  readonly #log: Logger
  readonly #places = new Map<FaultPlace, Caught>()

  constructor(log: Logger) {
    this.#log = log
  }

  caught(place: FaultPlace, error: unknown): void {
    const nowMs = performance.now()
    const known = this.#places.get(place) ?? { count: 0, toldMs: Number.NEGATIVE_INFINITY }
    this.#places.set(place, known)
    known.count++
    if (nowMs - known.toldMs < EVERY_MS) return
    known.toldMs = nowMs
    this.#log.error({ place, error, faults: known.count }, 'a part of the agent failed, and goes on')
  }

  /** Puts the counts into the rows of a source. */
  report(source: Source): void {
    for (const [place, { count }] of this.#places) source.bind(faultType, { place }).counter('faults_total').set(count)
  }
}
