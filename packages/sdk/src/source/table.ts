import { SondeError, shown } from '../errors.ts'
import { encoderOf } from '../schema/encoder.ts'
import type { Field, Role } from '../schema/field.ts'
import { sumSlotOf } from '../schema/histogram.ts'
import type { Kind } from '../schema/kinds.ts'
import type { Slot } from '../schema/layout.ts'
import type { RecordType } from '../schema/record-type.ts'
import { type Labels, seriesKey } from '../schema/series.ts'
import type { SourceLabels } from '../schema/source-labels.ts'
import { allocateViews, type Views } from '../schema/views.ts'
import { type CounterHandle, type GaugeHandle, handleOf } from './handles.ts'
import { type HistogramHandle, histogramOf } from './histogram.ts'

/** Roles of fields that count and so start at 0. */
const COUNTING: ReadonlySet<Role> = new Set(['counter', 'bucket'])

/**
 * The current records of a type, one row a series. Handles write numbers directly into a row. `collect` of the source
 * stamps the time and sends all complete rows as one batch. A row is complete when all its gauges were set once;
 * complete rows are stored before the others.
 */
export class Table {
  readonly type: RecordType
  /** Memory of the rows. Handles read this property at each write, because a growing table replaces the memory. */
  views: Views
  readonly #rows: Row[] = []
  /** Number of complete rows. */
  #completeCount = 0
  /** Slots that a complete row must have: required gauges and values. */
  readonly #required: readonly number[]
  readonly #byKey = new Map<string, Row>()
  readonly #labels: SourceLabels
  readonly #makeRoom: () => boolean
  readonly #rowLimit: number

  /** @param makeRoom Replaces the full table of labels; returns whether a label fits now. */
  constructor(type: RecordType, labels: SourceLabels, rowLimit: number, makeRoom: () => boolean) {
    if (type.layout.kind === 'packed') {
      throw new SondeError('SRC_BIND', `type ${type.name} has a packed layout; handles need an aligned one`)
    }
    const nested = Object.keys(type.fields).find((name) => type.fields[name]?.kind === 'record')
    if (nested !== undefined) {
      throw new SondeError(
        'SRC_BIND',
        `${type.name}.${nested} is a nested record, which handles do not write; use report`,
      )
    }
    const data = type.layout.slots.filter(({ field }) => field.role !== 'label' && field.role !== 'timestamp')
    const unwritable = data.find((slot) => !slot.field.optional && !isNumber(slot) && slot.field.role !== 'bucket')
    if (unwritable !== undefined) {
      throw new SondeError(
        'SRC_BIND',
        `${type.name}.${unwritable.name} is text or an array, which handles do not write; make it optional, or use report`,
      )
    }
    this.type = type
    const sums = data.filter(({ field }) => field.role === 'bucket').map((slot) => sumSlotOf(type, slot))
    const counts = (slot: Slot) => COUNTING.has(slot.field.role) || sums.includes(slot)
    this.#required = data.filter((slot) => !slot.field.optional && !counts(slot)).map(({ index }) => index)
    this.#labels = labels
    this.#makeRoom = makeRoom
    this.#rowLimit = rowLimit
    this.views = allocateViews(type.layout.recordBytes * 16)
  }

  /** The complete rows, at the start of the memory. */
  get count(): number {
    return this.#completeCount
  }

  /** The row of these labels, made on first use. */
  bind(given: Labels): Row {
    const labels = this.#inOrder(given)
    const key = seriesKey(labels)
    const known = this.#byKey.get(key)
    if (known !== undefined) return known
    if (this.#rows.length >= this.#rowLimit) {
      throw new SondeError(
        'SRC_ROW_LIMIT',
        `type ${this.type.name} has ${this.#rowLimit} bound rows; release some, or raise rowLimit`,
      )
    }
    this.#reserve(this.#rows.length + 1)
    const row = new Row(this, key, this.#rows.length * this.type.layout.recordBytes, this.#required)
    this.#writeLabels(row.base, labels)
    this.#rows.push(row)
    this.#byKey.set(key, row)
    if (row.unset === undefined) this.complete(row)
    return row
  }

  /**
   * Rewrites the labels of all rows with symbols of the current table.
   *
   * @param textOf The text of a symbol of the old table.
   */
  relabel(textOf: (symbol: number) => string): void {
    const slots = this.type.labels.filter(({ field }) => field.kind === 'symbol')
    for (const { base } of this.#rows) {
      for (const { offset } of slots) {
        const at = (base + offset) >> 2
        this.views.u32[at] = this.#labels.id(textOf(this.views.u32[at] ?? 0))
      }
    }
  }

  /** Moves a row to the complete rows. */
  complete(row: Row): void {
    this.#swap(this.#indexOf(row), this.#completeCount++)
  }

  /** Removes a row. */
  remove(row: Row): void {
    if (this.#byKey.get(row.key) !== row) return
    this.#byKey.delete(row.key)
    if (row.unset === undefined) this.#swap(this.#indexOf(row), --this.#completeCount)
    this.#swap(this.#indexOf(row), this.#rows.length - 1)
    this.#rows.pop()
    this.views.u8.fill(0, row.base, row.base + this.type.layout.recordBytes)
    row.base = -1
  }

  #indexOf(row: Row): number {
    return row.base / this.type.layout.recordBytes
  }

  #swap(i: number, j: number): void {
    const a = this.#rows[i]
    const b = this.#rows[j]
    if (a === b || a === undefined || b === undefined) return
    const { u8 } = this.views
    const { recordBytes } = this.type.layout
    const kept = u8.slice(a.base, a.base + recordBytes)
    u8.copyWithin(a.base, b.base, b.base + recordBytes)
    u8.set(kept, b.base)
    ;[a.base, b.base] = [b.base, a.base]
    this.#rows[i] = b
    this.#rows[j] = a
  }

  #reserve(rows: number): void {
    const needed = rows * this.type.layout.recordBytes
    if (needed <= this.views.bytes.length) return
    const larger = allocateViews(this.views.bytes.length * 2)
    larger.bytes.set(this.views.bytes)
    this.views = larger
  }

  /** The labels in the order of the type, so that labels in any order find the same row. */
  #inOrder(given: Labels): Labels {
    if (given === null || typeof given !== 'object') {
      const names = this.type.labels.map(({ name }) => name).join(', ') || 'none'
      throw new SondeError(
        'SRC_VALUE',
        `${this.type.name} was bound to ${shown(given)}; allowed: an object with a text for each label: ${names}`,
      )
    }
    const labels: Record<string, string> = {}
    for (const { name } of this.type.labels) {
      const text = Object.hasOwn(given, name) ? given[name] : undefined
      if (text === undefined) throw new SondeError('SRC_VALUE', `label ${this.type.name}.${name} is missing`)
      if (typeof text !== 'string') {
        throw new SondeError('SRC_VALUE', `label ${this.type.name}.${name} was given ${shown(text)}; allowed: text`)
      }
      labels[name] = text
    }
    const unknown = Object.keys(given).find((name) => !Object.hasOwn(labels, name))
    if (unknown !== undefined) {
      throw new SondeError(
        'SRC_BIND',
        `type ${this.type.name} has no label ${JSON.stringify(unknown)}; it has: ${Object.keys(labels).join(', ') || 'none'}`,
      )
    }
    return labels
  }

  /** Encodes the labels with the encoder of the type and zeros elsewhere, so that the same checks apply. */
  #writeLabels(base: number, labels: Labels): void {
    const record: Record<string, unknown> = {}
    for (const { name, field } of this.type.layout.slots) {
      if (field.role === 'label') record[name] = isText(field.kind) ? labels[name] : numberOf(labels[name])
      else if (!field.optional) record[name] = zeroOf(field)
    }
    const encode = () => encoderOf(this.type, this.#labels)(record, this.views, base)
    if (encode() || (this.#makeRoom() && encode())) return
    throw new SondeError(
      'SRC_SYMBOL_LIMIT',
      `${this.type.name}{${seriesKey(labels)}} has a new label, and the symbol table of the source is full with ${this.#labels.table.count} texts; raise symbolLimit, or use fewer different labels`,
    )
  }
}

/** Whether handles can write a slot. */
function isNumber({ field }: Slot): boolean {
  return field.count === 1 && !isText(field.kind)
}

function isScalar(...roles: readonly Role[]): (slot: Slot) => boolean {
  return (slot) => isNumber(slot) && roles.includes(slot.field.role)
}

function isText(kind: Kind): boolean {
  return kind === 'symbol' || kind === 'char'
}

function zeroOf({ kind, count }: Field): unknown {
  if (count > 1) return new Uint8Array(count)
  return kind === 'bool' ? false : 0
}

/** The number of a numeric label's text. Other spellings stay text, which the encoder refuses. */
function numberOf(text: string | undefined): unknown {
  return String(Number(text)) === text ? Number(text) : text
}

/**
 * The current record of a series. Counters and histograms start at 0 and count from `bind` on. A gauge that was never
 * set has no value, and 0 would be a value: a row is collected after all its required gauges and values were set. An
 * optional field is absent until it is set.
 */
export class Row {
  readonly table: Table
  readonly key: string
  /** Byte offset in the table; −1 after `release`. */
  base: number
  /** Slots that must be set before the row is collected; undefined when all are set. */
  unset: readonly number[] | undefined

  constructor(table: Table, key: string, base: number, required: readonly number[]) {
    this.table = table
    this.key = key
    this.base = base
    this.unset = required.length === 0 ? undefined : required
  }

  /** Name of a field, for messages. The type of an application's metric has one field of the same name. */
  placeOf(field: string): string {
    const { name } = this.table.type
    return `${name === field ? name : `${name}.${field}`} of {${this.key}}`
  }

  /**
   * The handle of a counter of any kind: `add` or `set`.
   *
   * @throws SondeError `SRC_BIND` if the type has no such scalar counter.
   */
  counter(field: string): CounterHandle {
    return handleOf(this, this.counterSlot(field))
  }

  /**
   * The location of a counter. For Sonde itself.
   *
   * @throws SondeError `SRC_BIND` if the type has no such scalar counter.
   */
  counterSlot(field: string): Slot {
    return this.#slot(field, 'a counter', isScalar('counter'))
  }

  /**
   * The handle of a gauge of any kind, or of a `value` that is a number.
   *
   * @throws SondeError `SRC_BIND` if the type has no such scalar gauge or value.
   */
  gauge(field: string): GaugeHandle {
    return handleOf(this, this.#slot(field, 'a gauge', isScalar('gauge', 'value')))
  }

  /**
   * The handle of a histogram: `observe`.
   *
   * @throws SondeError `SRC_BIND` if the type has no such field made by `buckets`.
   */
  histogram(field: string): HistogramHandle {
    const isBucket = ({ field: { role } }: Slot) => role === 'bucket'
    return histogramOf(this, this.#slot(field, 'a histogram', isBucket))
  }

  /** Removes the series: it is no longer collected, its handles do nothing, and views drop it when it expires. */
  release(): void {
    this.table.remove(this)
  }

  /** A slot was set; the row may be complete now. */
  arrived(slot: number): void {
    if (this.unset?.includes(slot) !== true) return
    const unset = this.unset.filter((other) => other !== slot)
    this.unset = unset.length === 0 ? undefined : unset
    if (this.unset === undefined) this.table.complete(this)
  }

  #slot(name: string, what: string, fits: (slot: Slot) => boolean): Slot {
    const { type } = this.table
    const slot = type.layout.slots.find((candidate) => candidate.name === name)
    if (slot !== undefined && fits(slot)) return slot
    const { role, kind, count } = slot?.field ?? {}
    const found =
      slot === undefined ? 'not a field' : `a ${role} of kind ${kind}${count === 1 ? '' : `, ${count} of them`}`
    const names = type.layout.slots.filter(fits)
    throw new SondeError(
      'SRC_BIND',
      `${type.name}.${name} is ${found}; ${what} handle writes one of: ${names.map((other) => other.name).join(', ') || 'none'}`,
    )
  }
}
