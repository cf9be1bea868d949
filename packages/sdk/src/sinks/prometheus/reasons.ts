import { type Batch, lifeOf, ownerOf, type SourceInfo } from '../../schema/batch.ts'
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
  /** The life of its host in which the source said it last. */
  readonly life: number
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

/** States by field, and those by series. */
type Fields = Map<string, State>
type Series = Map<string, Fields>

/**
 * What is absent now and why, by source, type, series and field: what leaves is found without a walk through all that
 * stays.
 */
export class Reasons {
  /** By the owner of the source. */
  readonly #states = new Map<object, { source: SourceInfo; readonly types: Map<string, Series> }>()
  readonly #quota = new Quota(STATE_LIMIT)

  /** Keeps a state, or forgets it where the value is back or gone. False if there is no room for it. */
  take({ source, page }: Batch, absence: Absence, nowMs: number): boolean {
    if (absence.code === '' || absence.code === 'gone') {
      this.#forget(source, absence)
      return true
    }
    const holder = page?.client
    const owner = ownerOf(source)
    const types = this.#states.get(owner)?.types ?? new Map<string, Series>()
    const series = types.get(absence.type) ?? (new Map() as Series)
    const fields = series.get(absence.series) ?? (new Map() as Fields)
    if (!fields.has(absence.field)) {
      if (this.#quota.roomFor(holder) <= 0) return false
      this.#quota.add(holder, 1)
    }
    fields.set(absence.field, { ...absence, holder, seenMs: nowMs, life: lifeOf(source) })
    series.set(absence.series, fields)
    types.set(absence.type, series)
    this.#states.set(owner, { source, types })
    return true
  }

  /** The sources that said something. */
  sources(): Iterable<SourceInfo> {
    return Array.from(this.#states.values(), ({ source }) => source)
  }

  /** Forgets all that a source said. */
  removeSource(source: SourceInfo): void {
    for (const series of this.#states.get(ownerOf(source))?.types.values() ?? []) this.#release(series, series.keys())
    this.#states.delete(ownerOf(source))
  }

  /** Forgets what was not said again since `expiredMs`, a step at a time; sources repeat themselves every minute. */
  *expire(expiredMs: number): Generator<void> {
    for (const { source, types } of this.#states.values()) {
      for (const state of statesOf(types)) {
        yield
        if (state.seenMs <= expiredMs) this.#forget(source, { ...state, code: '' })
      }
    }
  }

  /** Everything that is absent now. */
  *all(): Generator<HeldAbsence> {
    for (const { types } of this.#states.values()) yield* statesOf(types)
  }

  /**
   * A series that is gone takes what was said of its fields along, and a type that is gone what was said of its series
   * in this life of the host or before.
   */
  #forget(source: SourceInfo, { type, series: key, field, code }: Absence): void {
    const types = this.#states.get(ownerOf(source))?.types
    const series = types?.get(type)
    if (types === undefined || series === undefined) return
    if (code !== 'gone' || field !== '') this.#forgetField(series, key, field)
    else if (key !== '') this.#release(series, [key])
    else this.#release(series, series.keys(), lifeOf(source))
    if (series.size === 0) types.delete(type)
    if (types.size === 0) this.#states.delete(ownerOf(source))
  }

  #forgetField(series: Series, key: string, field: string): void {
    const fields = series.get(key)
    const state = fields?.get(field)
    if (fields === undefined || state === undefined) return
    fields.delete(field)
    this.#quota.add(state.holder, -1)
    if (fields.size === 0) series.delete(key)
  }

  /** Takes out the states of series, but those of later lives. */
  #release(series: Series, keys: Iterable<string>, lifeMax = Number.POSITIVE_INFINITY): void {
    for (const key of [...keys]) {
      for (const { field, life } of [...(series.get(key)?.values() ?? [])])
        if (life <= lifeMax) this.#forgetField(series, key, field)
    }
  }
}

function* statesOf(types: ReadonlyMap<string, Series>): Generator<State> {
  for (const series of types.values()) for (const fields of series.values()) yield* fields.values()
}
