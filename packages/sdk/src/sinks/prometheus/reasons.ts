import type { Batch, SourceInfo } from '../../schema/batch.ts'
import { readRecord } from '../../schema/reader.ts'
import { viewsOf } from '../../schema/views.ts'
import { type Holder, Quota } from './quota.ts'

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

/** An absence, and who reported it. */
export interface HeldAbsence extends Absence {
  readonly holder: Holder
}

interface State extends HeldAbsence {
  readonly seenMs: number
}

/** States of all sources at most; further ones are dropped as `absence_limit`. */
const STATE_LIMIT = 10_000

/** The records of a `sonde_absence` batch, one at a time. */
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
  readonly #states = new Map<SourceInfo, Map<string, State>>()
  readonly #quota = new Quota(STATE_LIMIT)

  /** Keeps a state, or forgets it where the value is back or gone. False where there is no room for it. */
  take({ source, page }: Batch, absence: Absence, nowMs: number): boolean {
    const holder = page?.client
    const key = `${absence.type}\n${absence.series}\n${absence.field}`
    const states = this.#states.get(source) ?? new Map<string, State>()
    const known = states.get(key)
    if (absence.code === '' || absence.code === 'gone') {
      if (known !== undefined) this.#forget(source, states, key)
      if (absence.field === '') this.#forgetFields(source, states, absence)
      return true
    }
    if (known === undefined && this.#quota.roomFor(holder) <= 0) return false
    if (known === undefined) this.#quota.add(holder, 1)
    states.set(key, { ...absence, holder, seenMs: nowMs })
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
    for (const { holder } of states.values()) this.#quota.add(holder, -1)
    this.#states.delete(source)
  }

  /** Forgets what was not said again since `expiredMs`; sources repeat themselves every minute. */
  expire(expiredMs: number): void {
    for (const [source, states] of this.#states) {
      for (const [key, { seenMs }] of states) if (seenMs <= expiredMs) this.#forget(source, states, key)
    }
  }

  /** Everything that is absent now. */
  *all(): Generator<HeldAbsence> {
    for (const states of this.#states.values()) yield* states.values()
  }

  #forget(source: SourceInfo, states: Map<string, State>, key: string): void {
    const state = states.get(key)
    if (state === undefined) return
    states.delete(key)
    this.#quota.add(state.holder, -1)
    if (states.size === 0) this.#states.delete(source)
  }

  /** A series that is gone, or back as a whole, takes what was said of its fields along. */
  #forgetFields(source: SourceInfo, states: Map<string, State>, { type, series, code }: Absence): void {
    if (code !== 'gone') return
    for (const [key, state] of states) {
      if (state.type === type && (series === '' || state.series === series)) this.#forget(source, states, key)
    }
  }
}
