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
const TEXT_LIMIT_CHARACTERS = 400

/** The records of a `sonde_absence` batch. */
export function* readAbsences({ type, source, count, bytes }: Batch): Generator<Absence> {
  const views = viewsOf(bytes)
  for (let i = 0; i < count; i++) {
    const record = readRecord(type, views, i * type.layout.recordBytes, source.symbols)
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
  /** Rises with every change of what HELP may say. */
  version = 0

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
    if (known?.code !== absence.code || known.reason !== absence.reason) this.version++
    states.set(key, { ...absence, seenMs: nowMs })
    this.#states.set(source, states)
    return true
  }

  /** Forgets all that a source said. */
  removeSource(source: SourceInfo): void {
    const states = this.#states.get(source)
    if (states === undefined) return
    this.#count -= states.size
    this.#states.delete(source)
    this.version++
  }

  /** Forgets what was not said again since `expiredMs`; sources repeat themselves every minute. */
  expire(expiredMs: number): void {
    for (const [source, states] of this.#states) {
      for (const [key, { seenMs }] of states) if (seenMs <= expiredMs) this.#forget(source, states, key)
    }
  }

  /** Sentences for HELP about the given fields, by type name; empty where nothing is absent. Bounded to some 400 characters. */
  sentences(fields: ReadonlyMap<string, ReadonlySet<string>>): string {
    const bySentence = new Map<string, string[]>()
    for (const states of this.#states.values()) {
      for (const { type, series, field, code, reason } of states.values()) {
        const names = fields.get(type)
        if (names === undefined || (field !== '' && !names.has(field))) continue
        const why = (reason || code).replace(/\.+$/, '')
        const places = bySentence.get(why)
        if (places === undefined) bySentence.set(why, [series])
        else places.push(series)
      }
    }
    return sentencesOf(bySentence)
  }

  #forget(source: SourceInfo, states: Map<string, unknown>, key: string): void {
    states.delete(key)
    this.#count--
    this.version++
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

function sentencesOf(bySentence: ReadonlyMap<string, readonly string[]>): string {
  let text = ''
  let left = 0
  for (const [why, places] of bySentence) {
    const named = places.includes('') ? [] : places
    const sentence = ` Absent${named.length === 0 ? '' : ` for ${listOf(named)}`}: ${why}.`
    if (text.length + sentence.length <= TEXT_LIMIT_CHARACTERS) text += sentence
    else left++
  }
  return left === 0 ? text : `${text} Absent for ${left} more reason${left === 1 ? '' : 's'}.`
}

function listOf(places: readonly string[]): string {
  const shown: string[] = []
  let length = 0
  for (const place of places) {
    length += place.length
    if (length > TEXT_LIMIT_CHARACTERS / 2) break
    shown.push(place)
  }
  const more = places.length - shown.length
  return `${shown.join('; ')}${more === 0 ? '' : `${shown.length === 0 ? '' : ' and '}${more} series${shown.length === 0 ? '' : ' more'}`}`
}
