import { SondeError } from '../errors.ts'
import { encoderOf } from '../schema/encoder.ts'
import type { Kind } from '../schema/kinds.ts'
import type { Slot } from '../schema/layout.ts'
import type { RecordType } from '../schema/record-type.ts'
import { type Labels, seriesKey } from '../schema/series.ts'
import type { SymbolTable } from '../schema/symbols.ts'
import { allocateViews, type Views } from '../schema/views.ts'

/**
 * The current records of a type, one row a series. Handles write numbers straight into a row; `collect` of the source stamps the time and sends the
 * whole table as one batch.
 */
export class Table {
  readonly type: RecordType
  /** Memory of the rows; replaced by a larger one when the table grows, which is why handles reach it through here. */
  views: Views
  readonly #rows: Row[] = []
  readonly #byKey = new Map<string, Row>()
  readonly #symbols: SymbolTable
  readonly #rowLimit: number

  constructor(type: RecordType, symbols: SymbolTable, rowLimit: number) {
    if (type.layout.kind === 'packed') {
      throw new SondeError('SRC_BIND', `type ${type.name} has a packed layout; handles need an aligned one`)
    }
    this.type = type
    this.#symbols = symbols
    this.#rowLimit = rowLimit
    this.views = allocateViews(type.layout.recordBytes * 16)
  }

  /** Rows in use. */
  get count(): number {
    return this.#rows.length
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
    const row = new Row(this, key, this.#rows.length * this.type.layout.recordBytes)
    this.#writeLabels(row.base, labels)
    this.#rows.push(row)
    this.#byKey.set(key, row)
    return row
  }

  /** Takes a row out; the last row moves into its place. */
  remove(row: Row): void {
    if (this.#byKey.get(row.key) !== row) return
    this.#byKey.delete(row.key)
    const bytes = this.type.layout.recordBytes
    const last = this.#rows.pop()
    if (last !== undefined && last !== row) {
      this.views.u8.copyWithin(row.base, last.base, last.base + bytes)
      this.views.u8.fill(0, last.base, last.base + bytes)
      last.base = row.base
      this.#rows[row.base / bytes] = last
    } else {
      this.views.u8.fill(0, row.base, row.base + bytes)
    }
    row.base = -1
  }

  #reserve(rows: number): void {
    const needed = rows * this.type.layout.recordBytes
    if (needed <= this.views.bytes.length) return
    const larger = allocateViews(this.views.bytes.length * 2)
    larger.bytes.set(this.views.bytes)
    this.views = larger
  }

  /** The labels in the order of the type, so that every way to write a series finds the same row. */
  #inOrder(given: Labels): Labels {
    const labels: Record<string, string> = {}
    for (const { name } of this.type.labels) {
      const text = Object.hasOwn(given, name) ? given[name] : undefined
      if (text === undefined) throw new SondeError('SRC_VALUE', `label ${this.type.name}.${name} is missing`)
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

  /** Labels go through the type's encoder, with every other field empty, so that the same checks hold. */
  #writeLabels(base: number, labels: Labels): void {
    const record: Record<string, unknown> = {}
    for (const [name, field] of Object.entries(this.type.fields)) {
      if (field.role === 'label') record[name] = isText(field.kind) ? labels[name] : numberOf(labels[name])
      else if (!field.optional) record[name] = emptyOf(field.kind, field.count)
    }
    if (encoderOf(this.type, this.#symbols)(record, this.views, base)) return
    throw new SondeError(
      'SRC_SYMBOL_LIMIT',
      `${this.type.name}{${seriesKey(labels)}} has a new label, and the symbol table of the source is full with ${this.#symbols.count} texts; raise symbolLimit, or use fewer different labels`,
    )
  }
}

function isText(kind: Kind): boolean {
  return kind === 'symbol' || kind === 'char'
}

/** The number of a label's text in its one spelling; any other stays text, which the encoder refuses. */
function numberOf(text: string | undefined): unknown {
  return String(Number(text)) === text ? Number(text) : text
}

function emptyOf(kind: Kind, count: number): unknown {
  const one = isText(kind) ? '' : kind === 'bool' ? false : 0
  return count === 1 || kind === 'char' ? one : new Array(count).fill(one)
}

/** One series' current record. */
export class Row {
  readonly table: Table
  readonly key: string
  /** Byte offset in the table; −1 after `release`. */
  base: number

  constructor(table: Table, key: string, base: number) {
    this.table = table
    this.key = key
    this.base = base
  }

  /** The handle of a counter: `add` or `set`. Only for a scalar of kind u64 or f64. */
  counter(field: string): CounterHandle {
    const slot = this.#slot(field)
    if (slot.field.kind === 'u64') return new U64Handle(this, slot)
    if (slot.field.kind === 'f64') return new F64Handle(this, slot)
    throw new SondeError(
      'SRC_BIND',
      `${this.table.type.name}.${field} is ${slot.field.kind}; a counter handle needs u64 or f64`,
    )
  }

  /** The handle of a gauge. For f64 or u64 scalars. */
  gauge(field: string): GaugeHandle {
    return this.counter(field)
  }

  /** Takes the series out: it is no longer collected, its handles do nothing, and views forget it when it expires. */
  release(): void {
    this.table.remove(this)
  }

  #slot(field: string): Slot {
    const slot = this.table.type.layout.slots.find((candidate) => candidate.name === field)
    if (slot === undefined || slot.field.count !== 1) {
      throw new SondeError('SRC_BIND', `type ${this.table.type.name} has no scalar field ${JSON.stringify(field)}`)
    }
    return slot
  }
}

/** Writes one gauge. */
export interface GaugeHandle {
  /** Sets the value. A u64 takes whole numbers from 0 up to 2^64; what is not is refused with `SRC_VALUE`. */
  set(value: number): void
}

/** Writes one counter. */
export interface CounterHandle extends GaugeHandle {
  /** Adds to the value; `amount` must not be negative. Default: 1. */
  add(amount?: number): void
}

class U64Handle implements CounterHandle {
  readonly #row: Row
  readonly #word: number
  readonly #present: Presence

  constructor(row: Row, slot: Slot) {
    this.#row = row
    this.#word = slot.offset >> 2
    this.#present = presenceOf(slot)
  }

  set(value: number): void {
    const low = value >>> 0
    const high = (value / 4294967296) >>> 0
    if (high * 4294967296 + low !== value) refuse(this.#row, value)
    this.#write(low, high)
  }

  add(amount = 1): void {
    const { u32 } = this.#row.table.views
    const at = (this.#row.base >> 2) + this.#word
    const low = amount >>> 0
    const high = (amount / 4294967296) >>> 0
    if (high * 4294967296 + low !== amount) refuse(this.#row, amount)
    const sum = (u32[at] ?? 0) + low
    this.#write(sum >>> 0, ((u32[at + 1] ?? 0) + high + (sum > 0xffffffff ? 1 : 0)) >>> 0)
  }

  #write(low: number, high: number): void {
    const { base, table } = this.#row
    if (base < 0) return
    const { u32 } = table.views
    const at = (base >> 2) + this.#word
    u32[at] = low
    u32[at + 1] = high
    if (this.#present !== undefined) markPresent(u32, base, this.#present)
  }
}

class F64Handle implements CounterHandle {
  readonly #row: Row
  readonly #word: number
  readonly #present: Presence

  constructor(row: Row, slot: Slot) {
    this.#row = row
    this.#word = slot.offset >> 3
    this.#present = presenceOf(slot)
  }

  set(value: number): void {
    const { base, table } = this.#row
    if (base < 0) return
    table.views.f64[(base >> 3) + this.#word] = value
    if (this.#present !== undefined) markPresent(table.views.u32, base, this.#present)
  }

  add(amount = 1): void {
    if (!(amount >= 0)) refuse(this.#row, amount)
    const { base, table } = this.#row
    this.set((table.views.f64[(base >> 3) + this.#word] ?? 0) + amount)
  }
}

type Presence = { readonly word: number; readonly bit: number } | undefined

function presenceOf(slot: Slot): Presence {
  return slot.field.optional ? { word: slot.index >> 5, bit: 1 << (slot.index & 31) } : undefined
}

function markPresent(u32: Uint32Array, base: number, { word, bit }: NonNullable<Presence>): void {
  const at = (base >> 2) + word
  u32[at] = (u32[at] ?? 0) | bit
}

function refuse(row: Row, value: number): never {
  throw new SondeError(
    'SRC_VALUE',
    `${row.table.type.name}{${row.key}} was given ${value}; allowed: a number from 0, whole for a u64`,
  )
}
