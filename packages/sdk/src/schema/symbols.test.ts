import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sondeError } from '../../test/helper.ts'
import { SymbolTable } from './symbols.ts'

test('gives each text one id, for good, and the text of an id back', () => {
  const symbols = new SymbolTable()
  const a = symbols.id('eth0')
  const b = symbols.id('eth1')
  assert.deepEqual([symbols.id('eth0'), symbols.id('eth1')], [a, b])
  assert.deepEqual([symbols.text(a), symbols.text(b), symbols.text(0)], ['eth0', 'eth1', ''])
  assert.equal(symbols.id(''), 0)
})

test('an id that nobody announced is told apart from text', () => {
  assert.equal(new SymbolTable().text(77), '?77')
})

test('a full table turns new text into "…" and counts it, and still knows the old', () => {
  const symbols = new SymbolTable(4)
  const ids = ['a', 'b', 'c', 'd', 'a'].map((text) => symbols.id(text))
  assert.deepEqual(
    ids.map((id) => symbols.text(id)),
    ['a', 'b', '…', '…', 'a'],
  )
  assert.deepEqual([symbols.count, symbols.overflowed], [4, 2])
})

test('a full table has no symbol for new text that identifies, but for what a source must tell of itself', () => {
  const symbols = new SymbolTable(3, undefined, ['own', 'a reason'])
  const a = symbols.idOfLabel('a')
  assert.deepEqual([symbols.idOfLabel('b'), symbols.idOfLabel('a'), symbols.overflowed], [undefined, a, 0])
  assert.equal(symbols.text(symbols.idOfLabel('a reason') ?? 0), 'a reason')
})

test('cuts endless text, and knows it again', () => {
  const symbols = new SymbolTable()
  const id = symbols.id('x'.repeat(1_000_000))
  assert.equal(symbols.text(id), 'x'.repeat(4096))
  assert.equal(symbols.id('x'.repeat(5000)), id)
})

test('tells what was added since', () => {
  const symbols = new SymbolTable()
  const told = symbols.count
  symbols.id('a')
  symbols.id('b')
  assert.deepEqual(symbols.since(told), ['a', 'b'])
  assert.deepEqual(symbols.since(symbols.count), [])
})

test('refuses a size that is none', () => {
  for (const limit of [1, 1.5, Number.NaN, 4_000_001]) {
    assert.throws(() => new SymbolTable(limit), sondeError('SCH_LIMIT'))
  }
})
