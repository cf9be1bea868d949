import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anyType } from '../../test/any-type.ts'
import { Random, SEED } from '../../test/random.ts'
import { absenceType } from './builtin.ts'
import { definitionOf } from './fingerprint.ts'
import { parseDefinition } from './parse-definition.ts'
import type { RecordType } from './record-type.ts'

/** A definition as it comes off a file: JSON that anybody may have changed. */
function written(type: RecordType): Record<string, unknown> {
  return JSON.parse(JSON.stringify(definitionOf(type)))
}

test(`every type comes back from its definition (seed ${SEED})`, () => {
  const random = new Random(SEED)
  for (let i = 0; i < 200; i++) {
    const type = anyType(random)
    assert.deepEqual(parseDefinition(written(type), type.fingerprint), type)
  }
})

test('a definition that was changed has another fingerprint, and is refused', () => {
  const json = { ...written(absenceType), description: 'Something else' }
  assert.throws(() => parseDefinition(json, absenceType.fingerprint), {
    code: 'SCH_DEFINITION',
    message: /fingerprint/,
  })
})

test('what is no definition is refused, whatever it is', () => {
  const base = written(absenceType)
  const [first] = base.fields as Record<string, unknown>[]
  const nested = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`)
  const broken: unknown[] = [
    null,
    7,
    'text',
    [],
    {},
    { ...base, name: 7 },
    { ...base, name: '__proto__' },
    { ...base, name: 'x'.repeat(5000) },
    { ...base, layout: 'loose' },
    { ...base, inTurns: 'yes' },
    { ...base, fields: {} },
    { ...base, fields: [] },
    { ...base, fields: [null] },
    { ...base, fields: [first, first] },
    { ...base, fields: Array(1025).fill(first) },
    { ...base, fields: [{ ...first, kind: 'constructor' }] },
    { ...base, fields: [{ ...first, role: 'king' }] },
    { ...base, fields: [{ ...first, count: '1' }] },
    { ...base, fields: [{ ...first, count: 1e9 }] },
    { ...base, fields: [{ ...first, optional: 0 }] },
    { ...base, fields: [{ ...first, resolution: 'ms' }] },
    { ...base, fields: [{ ...first, edges: [2, 1] }] },
    ...[null, 7, {}, [], { mode: 7 }, { le: '1' }, { simulated: 'no' }, { __a: 'x' }, { a: 'x'.repeat(201) }].map(
      (labels) => ({ ...base, fields: [{ name: 'n', kind: 'u8', role: 'gauge', count: 1, optional: false, labels }] }),
    ),
    { ...base, fields: [{ ...first, labels: { mode: 'of a timestamp' } }] },
    { ...base, fields: [{ ...first, edges: { length: 3 } }] },
    { ...base, fields: [{ ...first, later: nested }] },
  ]
  for (const json of broken) {
    assert.throws(() => parseDefinition(json, absenceType.fingerprint), { code: 'SCH_DEFINITION' })
  }
})
