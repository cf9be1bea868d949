import assert from 'node:assert/strict'
import { test } from 'node:test'
import { array, buckets, counter, gauge, label, nested, text, timestamp } from '../schema/field.ts'
import { definitionOf } from '../schema/fingerprint.ts'
import { parseDefinition } from '../schema/parse-definition.ts'
import { defineType, type RecordType } from '../schema/record-type.ts'
import { askedSet } from './asked-set.ts'
import { CORE_SET, coreOf, createFieldSet, type FieldSet } from './fieldset.ts'

const lane = defineType('lane', 'A lane', { up: gauge('u8'), errors_total: counter('u32', { class: 'full' }) })
const port = defineType('port', 'A port', {
  time: timestamp(),
  device: label(),
  rx_total: counter('u64'),
  tx_total: counter('u64', { class: 'core' }),
  spare_total: counter('u64', { class: 'full' }),
  wait: buckets('u64', [1, 2]),
  wait_sum: gauge('f64', { class: 'full' }),
  driver: text({ class: 'full' }),
  lane: nested(lane),
})

function passing(type: RecordType, set: FieldSet = CORE_SET): string {
  return set
    .of(type)
    .slots.map(({ name }) => name)
    .join(' ')
}

test('fields are core unless they say full; time, labels and the sum of a histogram go along', () => {
  assert.equal(passing(port), 'time device rx_total tx_total wait wait_sum lane.up')
})

test('a list of core fields makes all others full, those of nested records too', () => {
  const fields = { time: timestamp(), device: label(), rx: gauge('u8'), tx: gauge('u8'), lanes: array(nested(lane), 2) }
  const type = defineType('t', '', fields, { core: ['rx'] })
  assert.equal(passing(type), 'time device rx')
  assert.equal(passing(defineType('t', '', fields, { core: ['lanes'] })), 'time device lanes.0.up lanes.1.up')
  assert.equal(passing(defineType('t', '', fields, { core: [] })), '')
  for (const core of [['rxx'], ['device'], ['time'], 'rx', [1]])
    assert.throws(() => defineType('t', '', fields, { core: core as string[] }), {
      code: 'SCH_FIELD',
      message: /core of type t has .*; allowed: rx, tx, lanes$|core of type t is "rx"; allowed: a list of fields/,
    })
})

test('a wrong class is refused with what is allowed', () => {
  const declare = (fieldClass: unknown) =>
    defineType('t', '', { x: gauge('u8', { class: fieldClass as 'core' }), y: gauge('u8') })
  assert.throws(() => declare('most'), {
    code: 'SCH_FIELD',
    message: 'field x of type t: class of a gauge is "most"; allowed: core, full',
  })
})

test('the class is in the definition: files, peers and the store have it, and an unknown class is refused', () => {
  const read = parseDefinition(JSON.parse(JSON.stringify(definitionOf(port))), port.fingerprint)
  assert.equal(passing(read), passing(port))
  const { fields, ...rest } = definitionOf(port)
  const wrong = { ...rest, fields: fields.map((field) => ({ ...field, class: 'most' })) }
  assert.throws(() => parseDefinition(wrong, port.fingerprint), { code: 'SCH_DEFINITION', message: /class is "most"/ })
})

test('an address asks for a set, with or without the filter of its path', () => {
  const filter = createFieldSet('cset', '_total', 'a')
  assert.equal(askedSet('/metrics'), undefined)
  assert.equal(askedSet('/metrics?set=full&x=1'), undefined)
  assert.equal(askedSet('/a?set=full', filter), filter)
  assert.equal(askedSet('/metrics?x=1&set=core'), CORE_SET)
  const both = askedSet('/a?set=core', filter)
  assert.equal(both && passing(port, both), 'time device rx_total tx_total')
  assert.equal(askedSet('/a?set=core', filter), both, 'caches use the set as a key')
  assert.equal(coreOf(undefined), CORE_SET)
  for (const query of ['set=', 'set=Core', 'set=core&set=full', 'set=%00'])
    assert.throws(() => askedSet(`/metrics?${query}`), { code: 'SET_CLASS', message: /; allowed: core, full, once$/ })
})
