import type { Batch, SourceInfo } from '../../schema/batch.ts'
import { readRecord } from '../../schema/reader.ts'
import { viewsOf } from '../../schema/views.ts'

/** Why a value is absent, as a record of `sonde_absence` says. */
export interface Absence {
  readonly type: string
  /** Key of the series, empty for all of the type. */
  readonly series: string
  /** Field, empty for all. */
  readonly field: string
  /** Empty: the value is back. */
  readonly code: string
  readonly reason: string
}

/** States of all sources at most; further ones are dropped as `absence_limit`. */
const STATE_LIMIT = 10_000

/** The records of a `sonde_absence` batch. */
export function* readAbsences({ type, symbols, count, bytes }: Batch): Generator<Absence> {
  const views = viewsOf(bytes)
  for (let i = 0; i < count; i++) {
    const record = readRecord(type, views, i * type.layout.recordBytes, symbols)
    const text = (name: string) => String(record[name] ?? '')
    yield {
      type: text('type'),
      series: text('series'),
      field: text('field'),
      code: text('code'),
      reason: text('reason'),
    }
  }
}

/** What is absent now and why, by source. */
export class Reasons {
  readonly #states = new Map<SourceInfo, Map<string, Absence & { readonly seenMs: number }>>()
  #count = 0

  /** Keeps a state, or forgets it where the value is back or gone. False where there is no room for it. */
  take(source: SourceInfo, absence: Absence, nowMs: number): boolean {
    const key = `${absence.type}\n${absence.series}\n${absence.field}`
    const states = this.#states.get(source) ?? new Map<string, Absence & { readonly seenMs: number }>()
    const known = states.get(key)
    if (absence.code === '' || absence.code === 'gone') {
      if (known !== undefined) this.#forget(source, states, key)
      if (absence.field === '') this.#forgetFields(source, states, absence)
      return true
    }
    if (known === undefined && this.#count >= STATE_LIMIT) return false
    if (known === undefined) this.#count++
    states.set(key, { ...absence, seenMs: nowMs })
    this.#states.set(source, states)
    return true
  }

  /** The sources that said something. */
  sources(): Iterable<SourceInfo> {
    return this.#states.keys()
  }

  /** Forgets all that a source said. */
  removeSource(source: SourceInfo): void {
    const states = this.#states.get(source)
    if (states === undefined) return
    this.#count -= states.size
    this.#states.delete(source)
  }

  /** Forgets what was not said again since `expiredMs`; sources repeat themselves every minute. */
  expire(expiredMs: number): void {
    for (const [source, states] of this.#states) {
      for (const [key, { seenMs }] of states) if (seenMs <= expiredMs) this.#forget(source, states, key)
    }
  }

  /** Everything that is absent now. */
  *all(): Generator<Absence> {
    for (const states of this.#states.values()) yield* states.values()
  }

  #forget(source: SourceInfo, states: Map<string, unknown>, key: string): void {
    states.delete(key)
    this.#count--
    if (states.size === 0) this.#states.delete(source)
  }

  /** A series that is gone, or back as a whole, takes what was said of its fields along. */
  #forgetFields(source: SourceInfo, states: Map<string, Absence>, { type, series, code }: Absence): void {
    if (code !== 'gone') return
    for (const [key, state] of states) {
      if (state.type === type && (series === '' || state.series === series)) this.#forget(source, states, key)
    }
  }
}
