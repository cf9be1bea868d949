import type { AbsenceCode, Absences, Labels, RecordType } from '@sonde/sdk'

/** A missing value: code and reason. */
export class Missing {
  readonly code: AbsenceCode
  /** Reason for people. */
  readonly reason: string

  constructor(code: AbsenceCode, reason: string) {
    this.code = code
    this.reason = reason
  }
}

/**
 * Remembers the last report about each optional field of one series, so that each change is reported once. Undefined
 * labels mean every series of the type. Without it, each call would build a text key for {@link Absences}, which is too
 * slow for sweeps over hundreds of series.
 */
export class FieldAbsences {
  readonly #absences: Absences
  readonly #type: RecordType
  readonly #labels: Labels | undefined
  readonly #said = new Map<string, AbsenceCode | ''>()

  constructor(absences: Absences, type: RecordType, labels: Labels | undefined) {
    this.#absences = absences
    this.#type = type
    this.#labels = labels
  }

  /** Reports a field as absent; `''` means every field. While the code stays the same, the first reason stays. */
  absent(field: string, code: AbsenceCode, reason: string): void {
    if (this.#said.get(field) === code) return
    this.#said.set(field, code)
    this.#absences.set(this.#type, this.#labels, field, code, reason)
  }

  /**
   * Reports a field as present, or as absent if its value is missing. Returns the value; `undefined` if it is missing.
   */
  settle<T>(field: string, found: T | Missing): T | undefined {
    if (found instanceof Missing) {
      this.absent(field, found.code, found.reason)
      return undefined
    }
    this.present(field)
    return found
  }

  /**
   * Reports which optional fields of a record are present, and which are absent for the given reason. A
   * {@link Missing} value has a reason of its own.
   */
  tell(record: Readonly<Record<string, unknown>>, reason: string): void {
    for (const { name, field } of this.#type.layout.slots) {
      if (!field.optional) continue
      const value = record[name]
      if (value instanceof Missing) this.absent(name, value.code, value.reason)
      else if (value === undefined) this.absent(name, 'unsupported', reason)
      else this.present(name)
    }
  }

  /** Forgets everything, because the series is gone. */
  forget(): void {
    this.#said.clear()
  }

  /** Reports that the field is present. */
  present(field: string): void {
    if (this.#said.get(field) === '') return
    this.#said.set(field, '')
    this.#absences.clear(this.#type, this.#labels, field)
  }
}
