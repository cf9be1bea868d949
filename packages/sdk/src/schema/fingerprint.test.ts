import assert from 'node:assert/strict'
import { test } from 'node:test'
import { absenceType, clockType, eventType, gapType, lossType, markType, periodType } from './builtin.ts'
import { counter, gauge, label, optional, timestamp, value } from './field.ts'
import { canonicalJson } from './fingerprint.ts'
import { defineType } from './record-type.ts'

const base = () => ({
  time: timestamp(),
  device: label('Device'),
  rx: counter('u64', { unit: 'bytes', help: 'Received' }),
})

test('fingerprints stay what they are: files and peers hold them', () => {
  assert.equal(defineType('port', 'Counters of a port', base()).fingerprint, '9c69be575d143b76ab370d383e0d8e8f')
  const builtin = [absenceType, clockType, eventType, gapType, lossType, markType, periodType]
  assert.deepEqual(Object.fromEntries(builtin.map(({ name, fingerprint }) => [name, fingerprint])), {
    sonde_absence: 'efc2b7f4c9f0df6bbf008daabd222e38',
    sonde_clock: '8db938113498534c53adeb2ab5e179b8',
    sonde_event: 'a24488b6676e8650bd643626aa274bcc',
    sonde_gap: '1499b10eee85725cf32a7fd16d542eee',
    sonde_loss: '2f28fab00535b7abb56a8781ec9fdbf6',
    sonde_mark: '4375fc228d1d62b8c4a0ca6236394fcb',
    sonde_period: '384b89949ccbe0793a75806061f9b068',
  })
})

test('the order in which options are written does not matter, that of fields does', () => {
  const other = { time: timestamp(), device: label('Device'), rx: counter('u64', { help: 'Received', unit: 'bytes' }) }
  const type = defineType('t', '', base())
  assert.equal(defineType('t', '', other).fingerprint, type.fingerprint)
  const { time, device, rx } = base()
  assert.notEqual(defineType('t', '', { time, rx, device }).fingerprint, type.fingerprint)
})

test('whatever changes bytes or meaning changes the fingerprint', () => {
  const { rx } = base()
  const { help = '', unit = '' } = rx
  const said = { help, unit }
  const types = [
    defineType('t', '', base()),
    defineType('u', '', base()),
    defineType('t', 'about', base()),
    defineType('t', '', base(), { layout: 'packed' }),
    defineType('t', '', { ...base(), time: timestamp('us') }),
    defineType('t', '', { ...base(), device: label('Port') }),
    defineType('t', '', { ...base(), rx: counter('u32', said) }),
    defineType('t', '', { ...base(), rx: gauge('u64', said) }),
    defineType('t', '', { ...base(), rx: counter('u64', { ...said, unit: 'seconds' }) }),
    defineType('t', '', { ...base(), rx: counter('u64', { ...said, metric: 'rx' }) }),
    defineType('t', '', { ...base(), rx: counter('u64', { ...said, class: 'full' }) }),
    defineType('t', '', { ...base(), rx: optional(rx) }),
    defineType('t', '', { ...base(), more: value('u8') }),
  ]
  assert.equal(new Set(types.map(({ fingerprint }) => fingerprint)).size, types.length)
  for (const { fingerprint } of types) assert.match(fingerprint, /^[0-9a-f]{32}$/)
})

test('canonical JSON sorts keys at every depth and keeps the order of lists', () => {
  assert.equal(canonicalJson({ b: [{ z: 1, a: 2 }], a: null, c: 'ä' }), '{"a":null,"b":[{"a":2,"z":1}],"c":"ä"}')
})
