import type { Absences, RecordType } from '@sonde/sdk'

/**
 * Tracks the series of a type with one label across sweeps. Series of an earlier sweep that are missing in this sweep
 * are reported as gone. Their number is limited by the size of the file that lists them.
 */
export class SeriesPresence {
  readonly #absences: Absences
  readonly #type: RecordType
  readonly #label: string
  readonly #met = new Map<string, number>()
  #sweep = 0

  constructor(absences: Absences, type: RecordType, label: string) {
    this.#absences = absences
    this.#type = type
    this.#label = label
  }

  /** Starts a sweep. */
  startSweep(): void {
    this.#sweep++
  }

  /** Marks a series as present. Returns whether this is its first time in this sweep. */
  met(value: string): boolean {
    if (this.#met.get(value) === this.#sweep) return false
    this.#met.set(value, this.#sweep)
    return true
  }

  /** Ends a complete sweep. Do not call it after a sweep that may have missed series. */
  endSweep(reason: string): void {
    for (const [value, sweep] of this.#met) {
      if (sweep === this.#sweep) continue
      this.#met.delete(value)
      this.#absences.gone(this.#type, { [this.#label]: value }, reason)
    }
  }
}
