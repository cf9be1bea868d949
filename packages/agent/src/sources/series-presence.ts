import type { Absences, RecordType } from '@sonde/sdk'

/**
 * Which series of a type with one label a sweep met; those that an earlier one met and this one did not are said to be
 * gone. As many as the file lists that they are read from, whose size is limited.
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

  /** The sweep met a series; whether that was for the first time in this sweep. */
  met(value: string): boolean {
    if (this.#met.get(value) === this.#sweep) return false
    this.#met.set(value, this.#sweep)
    return true
  }

  /** Ends a sweep that has met everything there is; one that may have missed some just does not end. */
  endSweep(reason: string): void {
    for (const [value, sweep] of this.#met) {
      if (sweep === this.#sweep) continue
      this.#met.delete(value)
      this.#absences.gone(this.#type, { [this.#label]: value }, reason)
    }
  }
}
