import {
  type Batch,
  isPresent,
  type Labels,
  numberAt,
  type RecordType,
  type SourceInfo,
  type Views,
  viewsOf,
} from '@sonde/sdk'
import { labelsOf, labelText, lifeOf, ownerOf, Periods, SeriesIndex, type Slot, seriesKey } from '@sonde/sdk/internal'
import { type FactValues, isAboutEntities, isTextSlot, namingFields } from './claims.ts'
import type { FactBudget, FactGroup } from './fact-budget.ts'

/** The newest values of a series that identify its entity or name other entities. */
export interface EntityFact {
  readonly type: RecordType
  readonly labels: Labels
  /** The newest values of the identifying fields. */
  values: FactValues
  /** The source that reported it last. */
  source: SourceInfo
  /** When it appeared, or came back after it had left, on the clock of `Devices`. Unit: milliseconds. */
  sinceMs: number
  /** When the series last had a record, on the clock of `Devices`. Unit: milliseconds. */
  seenMs: number
  /** When it left, on the same clock; undefined while it is present. */
  goneMs: number | undefined
  /** Why it left; empty while it is present. */
  goneReason: string
}

/** A fact and its location in the tables. */
interface StoredFact extends EntityFact {
  readonly key: string
  /** The owner of its part of the limit. */
  readonly group: FactGroup
  table: FactTable
  /** Number of its series in the table. */
  number: number
  /** How much of the limit it uses. */
  places: number
}

/** Series of one type and source. */
interface FactTable {
  readonly slots: readonly Slot[]
  readonly index: SeriesIndex
  readonly rows: (FactRow | undefined)[]
}

interface FactRow {
  readonly fact: StoredFact
  /** The numbers of the tracked fields in the previous record. A text is tracked by its symbol number. */
  readonly numbers: Float64Array
}

/**
 * The facts of all series whose types define an entity or name another. A record equal to the previous record costs a
 * comparison of a few numbers. Texts are read only when one of these numbers changed.
 */
export class EntityFacts {
  /** Grows when the result of {@link all} changes, except for the times of records. */
  version = 0
  readonly #room: FactBudget
  readonly #periods = new Periods()
  readonly #facts = new Map<string, StoredFact>()
  /** Facts that left, by group; the first to leave comes first. */
  readonly #gone = new Map<FactGroup, Set<StoredFact>>()
  readonly #tables = new WeakMap<SourceInfo, Map<RecordType, FactTable>>()

  constructor(room: FactBudget) {
    this.#room = room
  }

  /** Number of facts in memory, including facts that left. */
  get count(): number {
    return this.#facts.size
  }

  all(): Iterable<EntityFact> {
    return this.#facts.values()
  }

  /** Takes a batch of any type. Returns how many of its records the limit refused. */
  take(batch: Batch, nowMs: number): number {
    this.#periods.take(batch)
    const { type, source, bytes, count } = batch
    if (!isAboutEntities(type)) return 0
    const table = this.#tableOf(type, source)
    const views = viewsOf(bytes)
    let refused = 0
    for (let i = 0; i < count; i++) {
      const at = i * type.layout.recordBytes
      const number = table.index.of(views, at)
      const row = table.rows[number]
      if (row !== undefined) {
        if (!changed(type, table, row.numbers, views, at) || this.#renew(row.fact, batch, views, at))
          this.#seen(row.fact, nowMs)
        else refused++
        continue
      }
      if (!this.#add(table, number, batch, views, at, nowMs)) {
        table.index.forget(number)
        refused++
      }
    }
    return refused
  }

  /**
   * A series left, as its source reported. An empty `series` means all series of the type that the source had in this
   * life or an earlier life.
   */
  leave(from: Pick<Batch, 'page' | 'source'>, type: string, series: string, reason: string, nowMs: number): void {
    const fact = this.#facts.get(factKey(from, type, series))
    if (fact !== undefined) this.#leave(fact, reason, nowMs)
    for (const fact of series === '' ? this.#facts.values() : []) {
      const isOfSource = ownerOf(fact.source) === ownerOf(from.source) && lifeOf(fact.source) <= lifeOf(from.source)
      if (isOfSource && fact.type.name === type) this.#leave(fact, reason, nowMs)
    }
  }

  /** Every fact that this source reported last leaves. */
  retire(source: SourceInfo, reason: string, nowMs: number): void {
    for (const { rows } of this.#tables.get(source)?.values() ?? [])
      for (const row of rows) if (row?.fact.source === source) this.#leave(row.fact, reason, nowMs)
  }

  /**
   * Series without a record for `expiryMs` leave, and facts that left more than `keepMs` ago are forgotten. A source
   * with a long period gets three periods before its series leave.
   */
  expire(nowMs: number, expiryMs: number, keepMs: number): void {
    for (const fact of this.#facts.values()) {
      if (fact.goneMs !== undefined) {
        if (nowMs - fact.goneMs > keepMs) this.#forget(fact)
      } else if (nowMs - fact.seenMs > Math.max(expiryMs, 3 * this.#periods.longestOf(fact.source))) {
        this.#leave(fact, `no source has read it for ${Math.round((nowMs - fact.seenMs) / 1000)} s`, nowMs)
      }
    }
  }

  clear(): void {
    for (const fact of this.#facts.values()) this.#forget(fact)
  }

  #leave(fact: StoredFact, reason: string, nowMs: number): void {
    if (fact.goneMs !== undefined) return
    fact.goneMs = nowMs
    fact.goneReason = reason
    this.#gone.set(fact.group, (this.#gone.get(fact.group) ?? new Set()).add(fact))
    this.version++
  }

  #seen(fact: StoredFact, nowMs: number): void {
    fact.seenMs = nowMs
    if (fact.goneMs === undefined) return
    fact.goneMs = undefined
    fact.goneReason = ''
    fact.sinceMs = nowMs
    this.#noLongerGone(fact)
    this.version++
  }

  #noLongerGone(fact: StoredFact): void {
    const gone = this.#gone.get(fact.group)
    if (gone?.delete(fact) && gone.size === 0) this.#gone.delete(fact.group)
  }

  /** Notes the changed values of a record. Returns `false` if it names more entities than the limit allows. */
  #renew(fact: StoredFact, { type, symbols }: Batch, views: Views, at: number): boolean {
    const values = identifyingValues(type, fact.table.slots, symbols, views, at)
    const more = this.#room.placesOf(type, values) - fact.places
    if (more > 0 && !this.#makeRoom(fact, more)) return false
    this.#room.add(fact.group, more)
    fact.places += more
    fact.values = values
    this.version++
    return true
  }

  /**
   * Adds the fact of a series that its table does not know. The series is new, or another source with the same labels
   * reported it before, such as a child process that was replaced. Returns `false` if the limit is reached.
   */
  #add(table: FactTable, number: number, batch: Batch, views: Views, at: number, nowMs: number): boolean {
    const { type, source } = batch
    const labels = labelsOf(type, source, views, at)
    const key = factKey(batch, type.name, seriesKey(labels))
    const known = this.#facts.get(key)
    const made = { type, labels, source, sinceMs: nowMs, seenMs: nowMs, goneMs: undefined, goneReason: '', values: {} }
    const fact = known ?? { ...made, key, group: this.#room.groupOf(batch), table, number, places: 0 }
    // An earlier source may report the series again: then the fact moves back to its table.
    if (known !== undefined) this.#leaveTable(known)
    Object.assign(fact, { source, table, number })
    if (!this.#renew(fact, batch, views, at)) return false
    this.#facts.set(key, fact)
    const numbers = new Float64Array(table.slots.length)
    changed(type, table, numbers, views, at)
    table.rows[number] = { fact, numbers }
    this.#seen(fact, nowMs)
    return true
  }

  #tableOf(type: RecordType, source: SourceInfo): FactTable {
    let tables = this.#tables.get(source)
    if (tables === undefined) {
      tables = new Map()
      this.#tables.set(source, tables)
    }
    let table = tables.get(type)
    if (table === undefined) {
      table = { slots: trackedSlots(type), index: new SeriesIndex(type), rows: [] }
      tables.set(type, table)
    }
    return table
  }

  /**
   * Whether the limit allows `places` more. Forgets facts that left: those of the same group, or of any group if they
   * share the limit.
   */
  #makeRoom(fact: StoredFact, places: number): boolean {
    while (this.#room.roomFor(fact.group) < places) {
      const own = this.#gone.get(fact.group)
      const [gone] = own ?? (this.#room.isShared ? this.#gone.values().next().value : undefined) ?? []
      if (gone === undefined || gone === fact) return false
      this.#forget(gone)
    }
    return true
  }

  #forget(fact: StoredFact): void {
    if (!this.#facts.delete(fact.key)) return
    this.#noLongerGone(fact)
    this.#room.add(fact.group, -fact.places)
    this.#leaveTable(fact)
    this.version++
  }

  /** Labels change for months, so a forgotten fact gives its number back. */
  #leaveTable(fact: StoredFact): void {
    const { table, number } = fact
    if (table.rows[number]?.fact !== fact) return
    table.rows[number] = undefined
    table.index.forget(number)
  }
}

/** Each client, each source of the agent, and each host reports for its own series only. */
function factKey({ page, source }: Pick<Batch, 'page' | 'source'>, type: string, series: string): string {
  const who = page === undefined ? `source ${source.id}` : `client ${page.client}`
  return `${who}\n${source.host ?? ''}\n${type}\n${series}`
}

/**
 * The tracked fields: all fields that name other entities, and the texts and facts of a type that defines an entity.
 */
function trackedSlots(type: RecordType): Slot[] {
  const { defines, facts = [] } = type.entity ?? {}
  const naming = new Set(namingFields(type))
  return type.layout.slots.filter(({ name, field }) => {
    if (field.role === 'label') return false
    if (naming.has(name)) return true
    return defines === true && (facts.includes(name) || (isTextSlot(field) && field.role === 'value'))
  })
}

/** Whether an identifying value differs from the previous record. Notes the new values. */
function changed(
  { layout }: RecordType,
  { slots }: FactTable,
  numbers: Float64Array,
  views: Views,
  at: number,
): boolean {
  let isOther = false
  for (let i = 0; i < slots.length; i++) {
    const slot = slots[i] as Slot
    const value = isPresent(layout, slot, views, at) ? trackedNumber(slot, views, at) : Number.NaN
    if (Object.is(numbers[i], value)) continue
    numbers[i] = value
    isOther = true
  }
  return isOther
}

const FNV_PRIME = 16_777_619

/** A number that differs when the value differs. */
function trackedNumber(slot: Slot, views: Views, at: number): number {
  if (slot.field.kind !== 'char') return numberAt(slot, views, at)
  let hash = 0
  for (let i = at + slot.offset; i < at + slot.offset + slot.bytes; i++)
    hash = Math.imul(hash ^ (views.u8[i] ?? 0), FNV_PRIME)
  return hash
}

function identifyingValues(
  { layout }: RecordType,
  slots: readonly Slot[],
  symbols: Batch['symbols'],
  views: Views,
  at: number,
): FactValues {
  const present = slots.filter((slot) => isPresent(layout, slot, views, at))
  return Object.fromEntries(
    present.map((slot) => [
      slot.name,
      isTextSlot(slot.field) ? labelText(slot, views, at, symbols) : numberAt(slot, views, at),
    ]),
  )
}
