import type { AbsenceCode, Absences, Labels, RecordType } from '@sonde/sdk'

/** Why there is no value. */
export class Lack {
  readonly code: AbsenceCode
  /** In words, for people. */
  readonly reason: string

  constructor(code: AbsenceCode, reason: string) {
    this.code = code
    this.reason = reason
  }
}

/**
 * What was last said of the optional fields of one series (labels `undefined`: of every series of the type), so that
 * each is said once when it changes: to look that up in {@link Absences} costs a text a call, which a sweep over
 * hundreds of series would feel.
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

  /** The field is absent; `''` is every field. The reason is that of the first time for as long as the code stays. */
  absent(field: string, code: AbsenceCode, reason: string): void {
    if (this.#said.get(field) === code) return
    this.#said.set(field, code)
    this.#absences.set(this.#type, this.#labels, field, code, reason)
  }

  /**
   * What was found for a field, which is said to be there; where that is a lack it is said to be absent, and the answer
   * is `undefined`.
   */
  settle<T>(field: string, found: T | Lack): T | undefined {
    if (found instanceof Lack) {
      this.absent(field, found.code, found.reason)
      return undefined
    }
    this.present(field)
    return found
  }

  /** Says which optional fields of a record are absent, all for the same reason, and which are there. */
  tell(record: Readonly<Record<string, unknown>>, reason: string): void {
    for (const { name, field } of this.#type.layout.slots) {
      if (!field.optional) continue
      if (record[name] === undefined) this.absent(name, 'unsupported', reason)
      else this.present(name)
    }
  }

  /** The series is gone, and with it all that was said of it. */
  forget(): void {
    this.#said.clear()
  }

  /** The field is there. */
  present(field: string): void {
    if (this.#said.get(field) === '') return
    this.#said.set(field, '')
    this.#absences.clear(this.#type, this.#labels, field)
  }
}
