import assert from 'node:assert/strict'
import { SondeError } from '../src/errors.ts'
import { createFieldSet } from '../src/fieldset/fieldset.ts'
import type { FieldSetKind } from '../src/fieldset/parse.ts'
import type { RecordType } from '../src/schema/record-type.ts'
import type { Random } from './random.ts'

const PARTS = [
  '^',
  '$',
  '+',
  '-',
  '\\',
  '#',
  '[',
  ']',
  '*',
  '=',
  ' ',
  '\t',
  '\n',
  '\r\n',
  '\r',
  '\0',
  '\u2028',
  '\ufeff',
  '\ud800',
  'é',
  '[port]',
  '[port_*]',
  '[*]',
  'port',
  'xmit',
  '^port$',
  '_',
  '.',
  '1',
]

/** Text as a field set may hold it, and as it may not. */
function randomText(random: Random): string {
  let text = ''
  for (let left = random.integer(0, 24); left > 0; left--) text += random.pick(PARTS)
  return text
}

/**
 * Compiles random text and projects a type with it: it is a filter, or an error of ours that names a place in the text.
 * Returns whether it was a filter.
 */
export function fuzzFieldSet(random: Random, type: RecordType): boolean {
  const kind = random.pick<FieldSetKind>(['cset', 'fset'])
  const text = randomText(random)
  try {
    const { slots, isWhole } = createFieldSet(kind, text, 'fuzz').of(type)
    assert.equal(isWhole, slots.length === type.layout.slots.length)
    if (slots.length > 0) for (const slot of type.labels) assert.ok(slots.includes(slot), JSON.stringify(text))
    return true
  } catch (error) {
    assert.ok(error instanceof SondeError, `${JSON.stringify(text)}: ${error}`)
    assert.equal(error.code, 'SET_SYNTAX', JSON.stringify(text))
    const [, line = '', column = ''] = /^fuzz:(\d+):(\d+) is .+; allowed: ./s.exec(error.message) ?? []
    const told = text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/)[Number(line) - 1]
    assert.ok(told !== undefined && Number(column) <= told.length + 1, `${JSON.stringify(text)}: ${error.message}`)
    return false
  }
}
