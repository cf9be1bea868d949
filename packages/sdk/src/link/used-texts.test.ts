import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TEXT_ID_MIN } from '../schema/texts.ts'
import { WRITER_SYMBOL_ID } from '../wire/dtb/format.ts'
import { UsedTexts } from './used-texts.ts'

const LIMITS = { countMax: 100, charactersMax: 1000, labelIdEnd: WRITER_SYMBOL_ID }
const CODES = { item: 'DTB_CONTENT', limit: 'DTB_LIMIT' }

test('texts are found by ids that come in any order, with gaps; what was not named reads as its id', () => {
  const symbols = new UsedTexts(LIMITS, CODES)
  symbols.take(1, ['a', 'b'])
  symbols.take(5, ['f', ''])
  symbols.take(0, ['', 'a'])
  symbols.take(4, ['e', 'f'])
  assert.deepEqual(
    [0, 1, 2, 3, 4, 5, 6, 7].map((id) => symbols.text(id)),
    ['', 'a', 'b', '?3', 'e', 'f', '', '?7'],
  )
  assert.equal(symbols.count, 7)
  assert.deepEqual(symbols.since(2), ['b', '?', 'e', 'f', ''])
})

test('texts of the writer of the file are no symbols of the source', () => {
  const symbols = new UsedTexts(LIMITS, CODES)
  symbols.take(WRITER_SYMBOL_ID, ['files', 'disk_full'])
  assert.equal(symbols.text(WRITER_SYMBOL_ID + 1), 'disk_full')
  assert.deepEqual([symbols.count, symbols.since(1)], [1, []])
})

test('a text never changes', () => {
  const symbols = new UsedTexts(LIMITS, CODES)
  symbols.take(1, ['a'])
  symbols.take(1, ['a'])
  assert.throws(() => symbols.take(0, ['', 'b']), { code: 'DTB_CONTENT' })
  assert.throws(() => symbols.take(0, ['x']), { code: 'DTB_CONTENT' })
})

test('a table of texts replaces the one before, which batches of before still read', () => {
  const symbols = new UsedTexts(LIMITS, CODES)
  symbols.take(1, ['label'])
  symbols.take(TEXT_ID_MIN + 10, [])
  symbols.take(TEXT_ID_MIN + 12, ['a'])
  const before = symbols.ofBatches
  symbols.take(TEXT_ID_MIN + 13, [])
  symbols.take(TEXT_ID_MIN + 13, ['b'])
  const now = symbols.ofBatches
  for (const [batch, texts] of [
    [before, ['label', 'a', `?${TEXT_ID_MIN + 13}`]],
    [now, ['label', `?${TEXT_ID_MIN + 12}`, 'b']],
  ] as const) {
    assert.deepEqual(
      [1, TEXT_ID_MIN + 12, TEXT_ID_MIN + 13].map((id) => batch.text(id)),
      texts,
    )
  }
})
