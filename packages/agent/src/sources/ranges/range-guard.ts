import type { Absences, Labels, RecordOf, RecordType } from '@sonde/sdk'
import type { Missing } from '../field-absences.ts'
import { impossible } from './quantities.ts'
import { type RangedField, rangesOf } from './range-of.ts'

/** Remembered refused series of a type. Policy: the oldest is forgotten, and its absence is reported again. */
const REFUSED_SERIES_MAX = 4096

/** Refused fields of one series: each keeps the reason of its first refused value until a possible value arrives. */
type Refused = ReadonlyMap<string, Missing>

/**
 * Removes impossible values from records, and reports them as absent with the reason. All records of every source pass
 * through it, so no source can skip the check.
 */
export class RangeGuard {
  readonly #absences: Absences
  readonly #fields = new Map<RecordType, readonly RangedField[]>()
  readonly #refused = new Map<RecordType, Map<string, Refused>>()

  constructor(absences: Absences) {
    this.#absences = absences
  }

  /** Returns the record without impossible values; undefined if a required field is impossible. */
  pass<T extends RecordType>(type: T, record: RecordOf<T>): RecordOf<T> | undefined {
    const values = record as Readonly<Record<string, unknown>>
    let refused: Map<string, Missing> | undefined
    for (const { name, quantity, isOptional } of this.#fieldsOf(type)) {
      const value = values[name]
      if (typeof value !== 'number' && typeof value !== 'bigint') continue
      const { least, most, unknown } = quantity
      if (value >= least && value <= most && unknown === undefined) continue
      const why = impossible(quantity, value)
      if (why === undefined) continue
      refused ??= new Map()
      refused.set(isOptional ? name : '', why)
    }
    if (refused === undefined && !this.#refused.has(type)) return record
    this.#tell(type, values, refused)
    if (refused === undefined) return record
    if (refused.has('')) return undefined
    return Object.fromEntries(Object.entries(values).filter(([name]) => !refused.has(name))) as RecordOf<T>
  }

  #fieldsOf(type: RecordType): readonly RangedField[] {
    let fields = this.#fields.get(type)
    if (fields === undefined) {
      fields = [...rangesOf(type).values()].filter(({ isCounter }) => !isCounter)
      this.#fields.set(type, fields)
    }
    return fields
  }

  #tell(type: RecordType, values: Readonly<Record<string, unknown>>, found: Refused | undefined): void {
    const labels: Labels = Object.fromEntries(type.labels.map(({ name }) => [name, String(values[name] ?? '')]))
    const key = Object.values(labels).join('\0')
    const series = this.#refused.get(type) ?? new Map<string, Refused>()
    const before = series.get(key)
    const now = new Map<string, Missing>()
    for (const [field, why] of found ?? []) {
      const first = before?.get(field) ?? why
      now.set(field, first)
      this.#absences.set(type, labels, field, first.code, first.reason)
    }
    // If the source itself has no value, the source reports the reason.
    for (const field of before?.keys() ?? [])
      if (!now.has(field) && (field === '' || values[field] !== undefined)) this.#absences.clear(type, labels, field)
    series.delete(key)
    if (now.size > 0) series.set(key, now)
    if (series.size > REFUSED_SERIES_MAX) series.delete(series.keys().next().value ?? '')
    if (series.size === 0) this.#refused.delete(type)
    else this.#refused.set(type, series)
  }
}
