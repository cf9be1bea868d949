import { absenceType } from '../schema/builtin.ts'
import type { RecordType } from '../schema/record-type.ts'
import { type Labels, mergeLabels, seriesKey } from '../schema/series.ts'
import { wallNs } from './clock.ts'
import type { Source } from './source.ts'

/**
 * Why a value is not there. `gone`: the device left, its series leave every view. `unsupported`: hardware or driver
 * does not have it. `denied`: not permitted. `failed`: the read of present hardware failed. `not_sampled`: not asked
 * for.
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
 * Tells, as records of `sonde_absence`, which values are absent and why: once when that changes, and again every minute
 * for readers that came later. A source says the same thing at every sample without cost to anyone.
 */
export class Absences {
  readonly #source: Source
  /** By series, and there by field. */
  readonly #states = new Map<string, Map<string, State>>()
  #count = 0
  #repeatedMs = 0
  /**
   * Calls of `set` that were not told, because 100 000 states are kept already and a state that is not kept would be
   * told at every sample.
   */
  overflowed = 0

  constructor(source: Source) {
    this.#source = source
  }

  /** Field `field` of a series is absent; `''` is every field. Labels `undefined`: every series of the type. */
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

  /** The value is there again. */
  clear(type: RecordType, labels: Labels | undefined, field: string): void {
    if (this.#states.size === 0) return
    const series = labels === undefined ? '' : seriesKey(mergeLabels(labels, this.#source.info.labels))
    const key = `${type.name}\n${series}`
    const known = this.#states.get(key)?.get(field)
    if (known === undefined) return
    this.#forget(key, field)
    this.#report({ ...known, code: '', reason: '' })
  }

  /** The device of a series left: every field of it is gone, and what was said of it is forgotten. */
  gone(type: RecordType, labels: Labels, reason: string): void {
    const series = seriesKey(mergeLabels(labels, this.#source.info.labels))
    const key = `${type.name}\n${series}`
    this.#count -= this.#states.get(key)?.size ?? 0
    this.#states.delete(key)
    this.set(type, labels, '', 'gone', reason)
  }

  /** Says everything again when a minute has passed; called once a sample. */
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
