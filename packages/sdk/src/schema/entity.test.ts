import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entityOf } from './entity.ts'
import { array, gauge, label, labelNumber, optional, text, timestamp } from './field.ts'
import { definitionOf } from './fingerprint.ts'
import { parseDefinition } from './parse-definition.ts'
import { defineType, type RecordType, typeOfDefinition } from './record-type.ts'

const fields = {
  time: timestamp(),
  belt: label('Name of the belt'),
  lane: labelNumber('u8', 'Lane'),
  hall: label('Host of its motor'),
  interfaces: optional(text()),
  pid: optional(gauge('u32')),
  top_speed: gauge('f64'),
  loads: array(gauge('u8'), 2),
}
const claim = {
  kind: 'conveyor_belt',
  key: ['belt', 'lane'],
  host: 'hall',
  defines: true,
  facts: ['top_speed'],
  joins: [
    { by: 'netdev', field: 'interfaces', isList: true },
    { by: 'pid', field: 'pid' },
  ],
  relations: [{ kind: 'robot', key: ['interfaces'], isList: true }],
} as const
const plain = defineType('belt', 'A belt', fields)
const belt = defineType('belt', 'A belt', fields, { entity: claim })

/** A definition as it comes off a wire, with another entity. */
function written(type: RecordType, entity: unknown = type.entity): unknown {
  return JSON.parse(JSON.stringify({ ...definitionOf(type), entity }))
}

test('what records are about is told beside the definition, and the fingerprint knows nothing of it', () => {
  assert.deepEqual(belt.entity, claim)
  assert.equal(belt.fingerprint, plain.fingerprint)
  assert.equal('entity' in definitionOf(plain), false)
  assert.deepEqual(parseDefinition(written(belt), plain.fingerprint), belt)
  assert.deepEqual(typeOfDefinition(definitionOf(belt)), belt)
})

test('a series is about the entity that its labels name, in the order of the key', () => {
  const of = (labels: Record<string, string>) => entityOf(belt, labels)
  assert.deepEqual(of({ lane: '3', belt: 'north', simulated: 'true' }), {
    kind: 'conveyor_belt',
    key: ['north', '3'],
  })
  assert.equal(of({ belt: '', lane: '3' }), undefined, 'without a name')
  assert.equal(of({}), undefined)
  assert.equal(entityOf(plain, { belt: 'north', lane: '3' }), undefined)
  const host = defineType('load', '', fields, { entity: { kind: 'host', key: [] } })
  assert.deepEqual(entityOf(host, { belt: 'north' }), { kind: 'host', key: [] })
})

const WRONG: readonly unknown[] = [
  null,
  7,
  [],
  {},
  { kind: 'Belt', key: ['belt'] },
  { kind: '__proto__', key: ['belt'] },
  { kind: 'b'.repeat(65), key: ['belt'] },
  { kind: 'belt', key: 'belt' },
  { kind: 'belt', key: ['nothing'] },
  { kind: 'belt', key: ['interfaces'] },
  { kind: 'belt', key: ['belt', 'belt'] },
  { kind: 'belt', key: Array(9).fill('belt') },
  { kind: 'belt', key: [], defines: true },
  { kind: 'belt', key: ['belt'], defines: 'yes' },
  { kind: 'belt', key: ['belt'], host: 'interfaces' },
  { kind: 'belt', key: ['belt'], host: '' },
  { kind: 'belt', key: ['belt'], facts: ['interfaces'] },
  { kind: 'belt', key: ['belt'], facts: ['loads'] },
  { kind: 'belt', key: ['belt'], facts: Array(65).fill('top_speed') },
  { kind: 'belt', key: ['belt'], joins: [{ by: 'name', field: 'interfaces' }] },
  { kind: 'belt', key: ['belt'], joins: [{ by: 'netdev', field: 'time' }] },
  { kind: 'belt', key: ['belt'], joins: [{ by: 'pid', field: 'top_speed' }] },
  { kind: 'belt', key: ['belt'], joins: [{ by: 'pid', field: 'pid', isList: true }] },
  { kind: 'belt', key: ['belt'], joins: [null] },
  { kind: 'belt', key: ['belt'], relations: [{ kind: 'robot', key: [] }] },
  { kind: 'belt', key: ['belt'], relations: [{ kind: 'Robot', key: ['belt'] }] },
  { kind: 'belt', key: ['belt'], relations: [{ kind: 'robot', key: ['belt', 'interfaces'], isList: true }] },
  { kind: 'belt', key: ['belt'], relations: Array(17).fill({ kind: 'robot', key: ['belt'] }) },
]

test('a claim that does not fit its type is refused where it is declared, with what is allowed', () => {
  const declare = (entity: unknown) => Reflect.apply(defineType, undefined, ['belt', '', fields, { entity }])
  for (const entity of WRONG) assert.throws(() => declare(entity), { code: 'SCH_ENTITY', message: /belt.*allowed: / })
  assert.throws(() => declare({ kind: 'belt', key: ['belt'], define: true }), { message: /did you mean defines/ })
})

test('from outside the records are read without a claim that is not understood, and its reason is told', () => {
  for (const entity of WRONG) {
    const told: string[] = []
    const type = parseDefinition(written(plain, entity), plain.fingerprint, (reason) => told.push(reason))
    assert.deepEqual(type, plain)
    assert.match(told.join(), /the entity of type belt/)
  }
  const later = { ...claim, later: { deep: [1] } }
  assert.deepEqual(
    parseDefinition(written(plain, later), plain.fingerprint).entity,
    claim,
    'what a later version added',
  )
})
