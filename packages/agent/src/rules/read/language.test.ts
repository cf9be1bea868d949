import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { SOURCES } from '../../sources/registry.ts'
import {
  COMBINATION_KEYS,
  COMBINATIONS,
  DATA_ID_KEYS,
  FILE_KEYS,
  RULE_KINDS,
  SIGNAL_KEYS,
  SIGNAL_REFERENCES,
  WITHIN,
} from './language.ts'
import { readRuleBook } from './read-rule-book.ts'

const PAGE = readFileSync(new URL('../../../../../docs/traceback.md', import.meta.url), 'utf8')

/** The row of the table that begins with a type. */
function rowOf(kind: string): string {
  return PAGE.split('\n').find((line) => line.startsWith('| `') && line.split('|')[1]?.includes(`\`${kind}\``)) ?? ''
}

test('docs/traceback.md has each type with its spellings and keys', () => {
  for (const { kind, long, keys } of RULE_KINDS) {
    const row = rowOf(kind)
    for (const word of [long ?? kind, ...keys.map(({ name }) => name)]) {
      assert.ok(row.includes(`\`${word}\``), `${kind}: ${word}`)
    }
  }
  for (const kind of COMBINATIONS) assert.ok(rowOf(kind).includes('`rules`'), kind)
})

test('docs/traceback.md has each key of the file, of data IDs, of signals and of combinations', () => {
  const lists = [FILE_KEYS, DATA_ID_KEYS, SIGNAL_KEYS, SIGNAL_REFERENCES, COMBINATION_KEYS, [WITHIN]]
  for (const { name } of lists.flat()) assert.ok(PAGE.includes(`\`${name}\``), name)
})

test('docs/traceback.md has a rule for each kind of fast samples, and the file is read without a warning', () => {
  const [, text = ''] = /### Fast samples[\s\S]*?```json\n([\s\S]*?)```/.exec(PAGE) ?? []
  const { book, warnings } = readRuleBook(text)
  assert.deepEqual(warnings, [])
  const types = book.signals.map(({ type }) => type)
  const all = SOURCES.flatMap((source) => (/_samples$/.test(source.name) ? source.types : []))
  const sampled = all.map(({ name }) => name).filter((name) => name.endsWith('_sample'))
  assert.deepEqual([...new Set(types)].sort(), sampled.sort())
  assert.equal(book.rules.length, 5)
})
