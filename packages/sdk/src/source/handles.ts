import { SondeError, shown } from '../errors.ts'
import type { Integer64 } from '../schema/field.ts'
import { F32_OVERFLOW, KIND_RANGE, type Kind } from '../schema/kinds.ts'
import type { Slot } from '../schema/layout.ts'
import type { Row } from './table.ts'

/** High word of 2^53: larger numbers may have been rounded. */
const HIGH_SAFE = 0x1fffff

/** Writes one gauge. */
export interface GaugeHandle {
  /**
   * Sets the value: a whole number in the range of an integer kind; any number for f64; for f32 any number that does
   * not become infinite; 1 or 0 for bool. u64 and i64 also accept a `bigint`, and from 2^53 on only a `bigint`.
   *
   * @throws SondeError `SRC_VALUE` if the field cannot hold it; the old value stays.
   */
  set(value: Integer64): void
}

/** Writes one counter. */
export interface CounterHandle extends GaugeHandle {
  /**
   * Adds to the value, which wraps beyond the range of an integer kind, like a hardware counter. Default: 1.
   *
   * @throws SondeError `SRC_VALUE` if `amount` is negative, not whole for an integer kind, or a `bigint` for a kind
   * other than u64 and i64; the old value stays.
   */
  add(amount?: Integer64): void
}

/** The handle of a numeric field. Each kind has its own class if that is faster. */
export function handleOf(row: Row, slot: Slot): CounterHandle {
  if (slot.field.kind === 'u64') return new U64Handle(row, slot)
  if (slot.field.kind === 'i64') return new I64Handle(row, slot)
  if (slot.field.kind === 'f64') return new F64Handle(row, slot)
  return new NarrowHandle(row, slot)
}

/** See {@link CounterHandle}. */
export class U64Handle implements CounterHandle {
  readonly #row: Row
  readonly #slot: Slot
  readonly #word: number
  readonly #present: Presence

  constructor(row: Row, slot: Slot) {
    this.#row = row
    this.#slot = slot
    this.#word = slot.offset >> 2
    this.#present = presenceOf(slot)
  }

  set(value: Integer64): void {
    if (typeof value !== 'number') {
      this.#setExact(value)
      return
    }
    const low = value >>> 0
    const high = (value / 4294967296) >>> 0
    if (high > HIGH_SAFE || high * 4294967296 + low !== value) refuse(this.#row, this.#slot, value)
    this.#write(low, high)
  }

  add(amount: Integer64 = 1): void {
    if (typeof amount !== 'number') {
      this.#addExact(amount)
      return
    }
    const low = amount >>> 0
    const high = (amount / 4294967296) >>> 0
    if (high > HIGH_SAFE || high * 4294967296 + low !== amount) refuse(this.#row, this.#slot, amount)
    this.#addWords(low, high)
  }

  #setExact(value: bigint): void {
    if (typeof value !== 'bigint' || BigInt.asUintN(64, value) !== value) refuse(this.#row, this.#slot, value)
    this.#write(Number(value & 0xffffffffn), Number(value >> 32n))
  }

  #addExact(amount: bigint): void {
    if (typeof amount !== 'bigint' || BigInt.asUintN(64, amount) !== amount) refuse(this.#row, this.#slot, amount)
    this.#addWords(Number(amount & 0xffffffffn), Number(amount >> 32n))
  }

  #addWords(low: number, high: number): void {
    const { u32 } = this.#row.table.views
    const at = (this.#row.base >> 2) + this.#word
    const sum = (u32[at] ?? 0) + low
    this.#write(sum >>> 0, ((u32[at + 1] ?? 0) + high + (sum > 0xffffffff ? 1 : 0)) >>> 0)
  }

  #write(low: number, high: number): void {
    const { base, table, unset } = this.#row
    if (base < 0) return
    const { u32 } = table.views
    const at = (base >> 2) + this.#word
    u32[at] = low
    u32[at + 1] = high
    if (this.#present !== undefined) markPresent(u32, base, this.#present)
    if (unset !== undefined) this.#row.arrived(this.#slot.index)
  }
}

/** See {@link CounterHandle}. */
export class F64Handle implements CounterHandle {
  readonly #row: Row
  readonly #slot: Slot
  readonly #word: number
  readonly #present: Presence

  constructor(row: Row, slot: Slot) {
    this.#row = row
    this.#slot = slot
    this.#word = slot.offset >> 3
    this.#present = presenceOf(slot)
  }

  set(value: Integer64): void {
    if (typeof value !== 'number') refuse(this.#row, this.#slot, value)
    this.#write(value)
  }

  add(amount: Integer64 = 1): void {
    if (typeof amount !== 'number' || !(amount >= 0)) refuse(this.#row, this.#slot, amount)
    const { base, table } = this.#row
    this.#write((table.views.f64[(base >> 3) + this.#word] ?? 0) + amount)
  }

  #write(value: number): void {
    const { base, table, unset } = this.#row
    if (base < 0) return
    table.views.f64[(base >> 3) + this.#word] = value
    if (this.#present !== undefined) markPresent(table.views.u32, base, this.#present)
    if (unset !== undefined) this.#row.arrived(this.#slot.index)
  }
}

class I64Handle implements CounterHandle {
  readonly #row: Row
  readonly #slot: Slot
  readonly #present: Presence

  constructor(row: Row, slot: Slot) {
    this.#row = row
    this.#slot = slot
    this.#present = presenceOf(slot)
  }

  set(value: Integer64): void {
    const exact = typeof value === 'bigint' ? value : Number.isSafeInteger(value) ? BigInt(value) : undefined
    if (exact === undefined || BigInt.asIntN(64, exact) !== exact) refuse(this.#row, this.#slot, value)
    this.#write(exact)
  }

  add(amount: Integer64 = 1): void {
    const exact = typeof amount === 'bigint' ? amount : Number.isSafeInteger(amount) ? BigInt(amount) : -1n
    if (exact < 0n || BigInt.asIntN(64, exact) !== exact) refuse(this.#row, this.#slot, amount)
    const { base, table } = this.#row
    this.#write((table.views.i64[(base + this.#slot.offset) >> 3] ?? 0n) + exact)
  }

  #write(value: bigint): void {
    const { base, table, unset } = this.#row
    if (base < 0) return
    // Keeps the low 64 bits, and so wraps.
    table.views.i64[(base + this.#slot.offset) >> 3] = value
    if (this.#present !== undefined) markPresent(table.views.u32, base, this.#present)
    if (unset !== undefined) this.#row.arrived(this.#slot.index)
  }
}

/** Kinds of at most four bytes: their typed array, and their width as a power of two. */
const NARROW = {
  u8: ['u8', 0],
  bool: ['u8', 0],
  i8: ['i8', 0],
  u16: ['u16', 1],
  i16: ['i16', 1],
  u32: ['u32', 2],
  i32: ['i32', 2],
  f32: ['f32', 2],
} as const

class NarrowHandle implements CounterHandle {
  readonly #row: Row
  readonly #slot: Slot
  readonly #array: (typeof NARROW)[keyof typeof NARROW][0]
  readonly #shift: number
  readonly #present: Presence
  /** Undefined for f32, which accepts any number that does not become infinite. */
  readonly #range: readonly [number, number] | undefined

  constructor(row: Row, slot: Slot) {
    const { kind } = slot.field
    this.#row = row
    this.#slot = slot
    ;[this.#array, this.#shift] = NARROW[kind as keyof typeof NARROW]
    this.#present = presenceOf(slot)
    this.#range = kind === 'bool' ? [0, 1] : KIND_RANGE[kind]
  }

  set(value: Integer64): void {
    if (typeof value !== 'number' || !this.#holds(value)) refuse(this.#row, this.#slot, value)
    this.#write(value)
  }

  add(amount: Integer64 = 1): void {
    if (typeof amount !== 'number' || !(amount >= 0) || !this.#holds(amount)) refuse(this.#row, this.#slot, amount)
    const { base, table } = this.#row
    // A typed array keeps the low bits, and so wraps.
    this.#write((table.views[this.#array][(base + this.#slot.offset) >> this.#shift] ?? 0) + amount)
  }

  #holds(value: number): boolean {
    if (this.#range === undefined) return !(Math.abs(value) >= F32_OVERFLOW && Number.isFinite(value))
    const [low, high] = this.#range
    return Number.isInteger(value) && value >= low && value <= high
  }

  #write(value: number): void {
    const { base, table, unset } = this.#row
    if (base < 0) return
    table.views[this.#array][(base + this.#slot.offset) >> this.#shift] = value
    if (this.#present !== undefined) markPresent(table.views.u32, base, this.#present)
    if (unset !== undefined) this.#row.arrived(this.#slot.index)
  }
}

/** Location of the presence bit of an optional field. */
export type Presence = { readonly word: number; readonly bit: number } | undefined

/** See {@link Presence}. */
export function presenceOf(slot: Slot): Presence {
  return slot.field.optional ? { word: slot.index >> 5, bit: 1 << (slot.index & 31) } : undefined
}

/** Marks the field of the record at `base` as present. */
export function markPresent(u32: Uint32Array, base: number, { word, bit }: NonNullable<Presence>): void {
  const at = (base >> 2) + word
  u32[at] = (u32[at] ?? 0) | bit
}

function refuse(row: Row, { name, field }: Slot, value: unknown): never {
  throw new SondeError(
    'SRC_VALUE',
    `${row.placeOf(name)} was given ${shown(value)}; allowed: ${allowedFor(field.kind)}, and no negative amount to add`,
  )
}

function allowedFor(kind: Kind): string {
  if (kind === 'f64') return 'a number'
  if (kind === 'f32') return 'a number that f32 holds'
  if (kind === 'u64') return 'a whole number from 0 to 2^64 - 1, from 2^53 on as a bigint'
  if (kind === 'i64') return 'a whole number from -2^63 to 2^63 - 1, from 2^53 on as a bigint'
  const [low, high] = KIND_RANGE[kind] ?? [0, 1]
  return `a whole number from ${low} to ${high}, no bigint`
}
