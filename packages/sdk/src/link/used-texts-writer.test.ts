import assert from 'node:assert/strict'
import { test } from 'node:test'
import { property } from '../../test/helper.ts'
import { counter, label, text, timestamp } from '../schema/field.ts'
import { defineType } from '../schema/record-type.ts'
import { SymbolTable } from '../schema/symbols.ts'
import { type BatchSymbols, TextTable } from '../schema/texts.ts'
import { UsedTextsWriter } from './used-texts-writer.ts'

const type = defineType('told', '', { time: timestamp(), a: label(), b: text(), n_total: counter('u64') })
const [OFFSET_A = 0, OFFSET_B = 0] = ['a', 'b'].map(
  (name) => type.layout.slots.find((slot) => slot.name === name)?.offset,
)

/** Records with these symbols. */
function bytesOf(pairs: readonly (readonly [number, number])[]): Uint8Array {
  const { recordBytes } = type.layout
  const bytes = new Uint8Array(pairs.length * recordBytes)
  const data = new DataView(bytes.buffer)
  for (const [i, [a, b]] of pairs.entries()) {
    data.setUint32(i * recordBytes + OFFSET_A, a, true)
    data.setUint32(i * recordBytes + OFFSET_B, b, true)
  }
  return bytes
}

/** The announced texts of records, by id. */
function announcedTexts(writer: UsedTextsWriter, symbols: BatchSymbols, pairs: readonly (readonly [number, number])[]) {
  const found = new Map<number, string>()
  writer.announce({ type, bytes: bytesOf(pairs), count: pairs.length, symbols }, ({ firstId, texts }) => {
    for (const [i, text] of texts.entries()) found.set(firstId + i, text)
  })
  return found
}

property('every text is announced before its first use, whatever records use, while the table grows', 200, (random) => {
  const symbols = new SymbolTable()
  const writer = new UsedTextsWriter(0, symbols)
  const table = new TextTable(symbols)
  const read = new Map<number, string>([[0, '']])
  for (let round = 0; round < 20; round++) {
    for (let i = random.integer(0, 40); i > 0; i--) symbols.id(`text ${symbols.count}`)
    const id = () => random.integer(0, symbols.count - 1)
    const pairs = Array.from({ length: random.integer(1, 10) }, () => [id(), id()] as const)
    for (const [id, text] of announcedTexts(writer, table, pairs)) read.set(id, text)
    for (const used of pairs.flat()) assert.equal(read.get(used), symbols.text(used))
  }
})

test('each text is announced once, and unknown ids are ignored', () => {
  const symbols = new SymbolTable()
  for (let i = 0; i < 1000; i++) symbols.id(`text ${i}`)
  const writer = new UsedTextsWriter(0, symbols)
  const table = new TextTable(symbols)
  assert.deepEqual([...announcedTexts(writer, table, [[2, 900]]).keys()], [1, 2, 3, 4, 5, 6, 7, 900])
  assert.deepEqual(announcedTexts(writer, table, [[900, 2]]), new Map())
  assert.deepEqual(announcedTexts(writer, table, [[1_000_000, 0]]), new Map())
  assert.deepEqual([...announcedTexts(writer, table, [[898, 902]]).keys()], [898, 899, 900, 901, 902])
})
