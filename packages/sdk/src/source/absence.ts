import { absenceType } from '../schema/builtin.ts'
import type { RecordType } from '../schema/record-type.ts'
import { type Labels, mergeLabels, seriesKey } from '../schema/series.ts'
import { wallNs } from './clock.ts'
import type { Source } from './source.ts'

/**
 * Why a value is absent. `gone`: the device was removed, and its series leave every view. `unsupported`: the hardware
 * or driver does not provide the value. `denied`: reading it is not permitted. `failed`: the read of present hardware
 * failed. `not_sampled`: reading it was not requested.
 */
export type AbsenceCode = 'gone' | 'unsupported' | 'denied' | 'failed' | 'not_sampled'

interface State {
  readonly type: string
  readonly series: string
  readonly field: string
  readonly code: AbsenceCode | ''
  readonly reason: string
}

const REPEAT_MS = 60_000
const STATE_LIMIT = 100_000

/**
 * Reports absent values and their reasons as records of `sonde_absence`: when they change, and every minute for new
 * readers. A source may repeat the same state at every sample at no cost.
 */
export class Absences {
  readonly #source: Source
  /** States by series, then by field. */
  readonly #states = new Map<string, Map<string, State>>()
  #count = 0
  #repeatedMs = 0
  /**
   * Calls of `set` that were not reported: 100 000 states are kept already, and a state that is not kept would be
   * reported at every sample.
   */
  overflowed = 0

  constructor(source: Source) {
    this.#source = source
  }

  /** A field of a series is absent; `''` is every field. Labels `undefined`: every series of the type. */
  set(type: RecordType, labels: Labels | undefined, field: string, code: AbsenceCode, reason: string): void {
    const series = labels === undefined ? '' : seriesKey(mergeLabels(labels, this.#source.info.labels))
    const key = `${type.name}\n${series}`
    const known = this.#states.get(key)?.get(field)
    if (known?.code === code && known.reason === reason) return
    const state: State = { type: type.name, series, field, code, reason }
    if (code === 'gone') this.#forget(key, field)
    else if (known !== undefined || this.#count < STATE_LIMIT) this.#keep(key, state)
    else {
      this.overflowed++
      this.#source.countLoss('absence_limit')
      return
    }
    this.#report(state)
  }

  /** The value is present again. */
  clear(type: RecordType, labels: Labels | undefined, field: string): void {
    if (this.#states.size === 0) return
    const series = labels === undefined ? '' : seriesKey(mergeLabels(labels, this.#source.info.labels))
    const key = `${type.name}\n${series}`
    const known = this.#states.get(key)?.get(field)
    if (known === undefined) return
    this.#forget(key, field)
    this.#report({ ...known, code: '', reason: '' })
  }

  /** The device of a series was removed: all its fields are gone, and their states are forgotten. */
  gone(type: RecordType, labels: Labels, reason: string): void {
    const series = seriesKey(mergeLabels(labels, this.#source.info.labels))
    const key = `${type.name}\n${series}`
    this.#count -= this.#states.get(key)?.size ?? 0
    this.#states.delete(key)
    this.set(type, labels, '', 'gone', reason)
  }

  /** Repeats all states once a minute; called at every sample. */
  repeat(nowMs: number = Date.now()): void {
    if (nowMs >= this.#repeatedMs && nowMs - this.#repeatedMs < REPEAT_MS) return
    this.#repeatedMs = nowMs
    for (const fields of this.#states.values()) for (const state of fields.values()) this.#report(state)
  }

  #keep(key: string, state: State): void {
    let fields = this.#states.get(key)
    if (fields === undefined) {
      fields = new Map()
      this.#states.set(key, fields)
    }
    if (!fields.has(state.field)) this.#count++
    fields.set(state.field, state)
  }

  #forget(key: string, field: string): void {
    const fields = this.#states.get(key)
    if (fields?.delete(field) !== true) return
    this.#count--
    if (fields.size === 0) this.#states.delete(key)
  }

  #report(state: State): void {
    this.#source.report(absenceType, { time: wallNs(), ...state })
  }
}
