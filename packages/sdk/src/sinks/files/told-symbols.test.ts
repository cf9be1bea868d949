import assert from 'node:assert/strict'
import { test } from 'node:test'
import { property } from '../../../test/helper.ts'
import { counter, label, text, timestamp } from '../../schema/field.ts'
import { defineType } from '../../schema/record-type.ts'
import { SymbolTable } from '../../schema/symbols.ts'
import { type BatchSymbols, TextTable } from '../../schema/texts.ts'
import { decodeSymbols } from '../../wire/dtb/decode-payload.ts'
import { BLOCK_HEADER_BYTES } from '../../wire/dtb/format.ts'
import { ToldSymbols } from './told-symbols.ts'

const type = defineType('told', '', { time: timestamp(), a: label(), b: text(), n_total: counter('u64') })
const [OFFSET_A, OFFSET_B] = ['a', 'b'].map((name) => type.layout.slots.find((slot) => slot.name === name)?.offset ?? 0)

/** A block of records with these symbols. */
function blockOf(pairs: readonly (readonly [number, number])[]): Uint8Array {
  const { recordBytes } = type.layout
  const block = new Uint8Array(BLOCK_HEADER_BYTES + pairs.length * recordBytes)
  const data = new DataView(block.buffer)
  for (const [i, [a, b]] of pairs.entries()) {
    data.setUint32(BLOCK_HEADER_BYTES + i * recordBytes + (OFFSET_A ?? 0), a, true)
    data.setUint32(BLOCK_HEADER_BYTES + i * recordBytes + (OFFSET_B ?? 0), b, true)
  }
  return block
}

/** What of an entry is looked at. */
function entryOf(symbols: BatchSymbols, pairs: readonly (readonly [number, number])[]) {
  return { type, block: blockOf(pairs), count: pairs.length, symbols }
}

/** Texts by id, as a reader gets them. */
function textsIn(blocks: readonly Uint8Array[]): Map<number, string> {
  const found = new Map<number, string>()
  for (const block of blocks) {
    const length = new DataView(block.buffer).getUint32(8, true)
    const { firstId, texts } = decodeSymbols(block.subarray(BLOCK_HEADER_BYTES, BLOCK_HEADER_BYTES + length))
    for (const [i, text] of texts.entries()) found.set(firstId + i, text)
  }
  return found
}

property('every text is told before its first use, whatever records use, while the table grows', 200, (random) => {
  const symbols = new SymbolTable()
  const told = new ToldSymbols(symbols)
  const table = new TextTable(symbols)
  const read = new Map<number, string>([[0, '']])
  for (let round = 0; round < 20; round++) {
    for (let i = random.integer(0, 40); i > 0; i--) symbols.id(`text ${symbols.count}`)
    const id = () => random.integer(0, symbols.count - 1)
    const pairs = Array.from({ length: random.integer(1, 10) }, () => [id(), id()] as const)
    for (const [id, text] of textsIn(told.before(entryOf(table, pairs)))) read.set(id, text)
    for (const used of pairs.flat()) assert.equal(read.get(used), symbols.text(used))
  }
})

test('what was told is not told again, and ids that are none are passed over', () => {
  const symbols = new SymbolTable()
  for (let i = 0; i < 1000; i++) symbols.id(`text ${i}`)
  const told = new ToldSymbols(symbols)
  const table = new TextTable(symbols)
  assert.deepEqual([...textsIn(told.before(entryOf(table, [[2, 900]]))).keys()], [1, 2, 3, 4, 5, 6, 7, 900])
  assert.deepEqual(told.before(entryOf(table, [[900, 2]])), [])
  assert.deepEqual(told.before(entryOf(table, [[1_000_000, 0]])), [])
  assert.deepEqual([...textsIn(told.before(entryOf(table, [[898, 902]]))).keys()], [898, 899, 900, 901, 902])
})
