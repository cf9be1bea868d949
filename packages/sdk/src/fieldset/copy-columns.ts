import type { Layout, Slot } from '../schema/layout.ts'

/** Bytes that are contiguous in both records. Unit of all: elements of the copied arrays. */
interface Move {
  readonly from: number
  readonly to: number
  readonly length: number
}

/** Presence bits that share a byte in both records. */
interface PresenceMove {
  readonly fromByte: number
  readonly fromBit: number
  readonly toByte: number
  readonly toBit: number
  readonly mask: number
}

const WORD_BYTES = 4

/** Copies records of a layout to a layout with a part of its slots. Uses a table of numbers, no generated code. */
export class ColumnCopier {
  readonly #fromBytes: number
  readonly #toBytes: number
  readonly #moves: readonly Move[]
  /** The moves in words of four bytes; undefined if a move is not aligned to words. */
  readonly #wordMoves: readonly Move[] | undefined
  readonly #presence: readonly PresenceMove[]

  constructor(from: Layout, to: Layout) {
    this.#fromBytes = from.recordBytes
    this.#toBytes = to.recordBytes
    const slots = pairsOf(from.slots, to.slots)
    this.#moves = joined(slots.map(([a, b]) => ({ from: a.offset, to: b.offset, length: b.bytes })))
    const sizes = this.#moves.flatMap(({ from, to, length }) => [from, to, length])
    const isWords = [...sizes, this.#fromBytes, this.#toBytes].every((bytes) => bytes % WORD_BYTES === 0)
    this.#wordMoves = isWords
      ? this.#moves.map(({ from, to, length }) => ({
          from: from / WORD_BYTES,
          to: to / WORD_BYTES,
          length: length / WORD_BYTES,
        }))
      : undefined
    this.#presence = to.presenceWords === 0 ? [] : slots.map(([a, b]) => presenceMove(a.index, b.index))
  }

  /** Copies records to new memory; padding bytes are 0. */
  copy(bytes: Uint8Array, count: number): Uint8Array {
    const into = new Uint8Array(count * this.#toBytes)
    const { byteOffset, byteLength, buffer } = bytes
    if (this.#wordMoves !== undefined && byteOffset % WORD_BYTES === 0) {
      const source = new Int32Array(buffer, byteOffset, byteLength / WORD_BYTES)
      const strides = { from: this.#fromBytes / WORD_BYTES, to: this.#toBytes / WORD_BYTES, count }
      copyWords(source, new Int32Array(into.buffer), strides, this.#wordMoves)
    } else copyBytes(bytes, into, { from: this.#fromBytes, to: this.#toBytes, count }, this.#moves)
    for (const move of this.#presence) copyBits(bytes, into, this.#fromBytes, this.#toBytes, count, move)
    return into
  }
}

/** The distance of two records in elements, and the number of records. */
interface Strides {
  readonly from: number
  readonly to: number
  readonly count: number
}

/** Signed words, because V8 handles them as small integers for any bits. */
function copyWords(source: Int32Array, target: Int32Array, strides: Strides, moves: readonly Move[]): void {
  const { from: fromStride, to: toStride, count } = strides
  for (const { from, to, length } of moves) {
    let [at, into] = [from, to]
    for (let i = 0; i < count; i++) {
      for (let k = 0; k < length; k++) target[into + k] = source[at + k] as number
      at += fromStride
      into += toStride
    }
  }
}

/** {@link copyWords} for unaligned layouts: a separate function, so that each sees one kind of array. */
function copyBytes(source: Uint8Array, target: Uint8Array, strides: Strides, moves: readonly Move[]): void {
  const { from: fromStride, to: toStride, count } = strides
  for (const { from, to, length } of moves) {
    let [at, into] = [from, to]
    for (let i = 0; i < count; i++) {
      for (let k = 0; k < length; k++) target[into + k] = source[at + k] as number
      at += fromStride
      into += toStride
    }
  }
}

function copyBits(
  source: Uint8Array,
  target: Uint8Array,
  fromStride: number,
  toStride: number,
  count: number,
  { fromByte, fromBit, toByte, toBit, mask }: PresenceMove,
): void {
  for (let i = 0, at = fromByte, into = toByte; i < count; i++, at += fromStride, into += toStride) {
    target[into] = (target[into] as number) | ((((source[at] as number) >>> fromBit) & mask) << toBit)
  }
}

function pairsOf(from: readonly Slot[], to: readonly Slot[]): [Slot, Slot][] {
  const byName = new Map(from.map((slot) => [slot.name, slot]))
  return to.flatMap((slot): [Slot, Slot][] => {
    const given = byName.get(slot.name)
    return given === undefined ? [] : [[given, slot]]
  })
}

/** Joins moves that are contiguous in both records. */
function joined(moves: readonly Move[]): Move[] {
  const result: Move[] = []
  for (const move of moves) {
    const last = result.at(-1)
    if (last !== undefined && last.from + last.length === move.from && last.to + last.length === move.to)
      result[result.length - 1] = { ...last, length: last.length + move.length }
    else result.push(move)
  }
  return result
}

/** Presence words are little-endian and begin the record, so that bit `i` is in byte `i / 8`. */
function presenceMove(from: number, to: number): PresenceMove {
  return { fromByte: from >> 3, fromBit: from & 7, toByte: to >> 3, toBit: to & 7, mask: 1 }
}
