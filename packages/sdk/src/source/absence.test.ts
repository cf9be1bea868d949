import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordingSource } from '../../test/helper.ts'
import { absenceType } from '../schema/builtin.ts'
import { gauge, label, timestamp } from '../schema/field.ts'
import { defineType } from '../schema/record-type.ts'
import { Absences } from './absence.ts'

const gpu = defineType('gpu', '', { time: timestamp(), device: label(), celsius: gauge('f64') })

function absences(labels: Record<string, string> = {}, symbolLimit = 200_000) {
  const { source, emitted } = recordingSource({ labels, symbolLimit })
  const told = () => {
    source.flush()
    const records = emitted.splice(0).flatMap(({ type, records }) => (type === absenceType ? records : []))
    return records.map(({ series, field, code, reason }) => `${series}|${field}|${code}|${reason}`)
  }
  return { absences: new Absences(source), told, source }
}

test('says once that a value is absent, again when code or reason change, and once that it is back', () => {
  const { absences: states, told } = absences()
  for (let n = 0; n < 3; n++) states.set(gpu, { device: '0' }, 'celsius', 'failed', 'read error')
  assert.deepEqual(told(), ['device="0"|celsius|failed|read error'])
  states.set(gpu, { device: '0' }, 'celsius', 'failed', 'another error')
  states.set(gpu, { device: '0' }, 'celsius', 'denied', 'another error')
  assert.deepEqual(told(), ['device="0"|celsius|failed|another error', 'device="0"|celsius|denied|another error'])
  for (let n = 0; n < 3; n++) states.clear(gpu, { device: '0' }, 'celsius')
  assert.deepEqual(told(), ['device="0"|celsius||'])
})

test('names series as views do, constant labels included, and every series by an empty text', () => {
  const { absences: states, told } = absences({ node: 'n1' })
  states.set(gpu, { device: '0' }, '', 'unsupported', 'r')
  states.set(gpu, undefined, 'celsius', 'denied', 'r')
  assert.deepEqual(told(), ['device="0",node="n1"||unsupported|r', '|celsius|denied|r'])
})

test('a device that left is gone with all that was said of it, and of nothing else', () => {
  const { absences: states, told } = absences()
  states.set(gpu, { device: '0' }, 'celsius', 'failed', 'r')
  states.set(gpu, { device: '1' }, 'celsius', 'failed', 'r')
  states.gone(gpu, { device: '0' }, 'removed')
  told()
  states.repeat(1e12)
  assert.deepEqual(told(), ['device="1"|celsius|failed|r'])
  states.set(gpu, { device: '0' }, 'celsius', 'failed', 'r')
  assert.deepEqual(told(), ['device="0"|celsius|failed|r'])
})

test('repeats every minute what still holds, and follows a clock that was set back', () => {
  const { absences: states, told } = absences()
  states.set(gpu, { device: '0' }, 'celsius', 'failed', 'r')
  states.repeat(1_000_000)
  told()
  states.repeat(1_059_999)
  assert.deepEqual(told(), [])
  states.repeat(1_060_000)
  assert.equal(told().length, 1)
  states.repeat(5000)
  assert.equal(told().length, 1)
  states.clear(gpu, { device: '0' }, 'celsius')
  told()
  states.repeat(1_000_000)
  assert.deepEqual(told(), [])
})

test('keeps at most 100 000 states, counts what it did not tell, and still tells what is gone', () => {
  const { absences: states, told, source } = absences()
  for (let n = 0; n < 100_002; n++) states.set(gpu, { device: `${n}` }, '', 'failed', 'r')
  assert.equal(told().length, 100_000)
  assert.equal(states.overflowed, 2)
  assert.equal(source.stats.dropped.get('absence_limit'), 2)
  states.gone(gpu, { device: '100001' }, 'removed')
  assert.deepEqual(told(), ['device="100001"||gone|removed'])
})

test('the code stays readable when the symbol table of the source is full, and what names no series is a loss', () => {
  const { source, emitted } = recordingSource({ symbolLimit: 7 })
  // Whoever asks for the table keeps it: it is not replaced.
  assert.ok(source.symbols.count > 0)
  const states = new Absences(source)
  for (let n = 0; n < 5; n++) states.set(gpu, { device: `${n}` }, '', 'failed', 'r')
  states.gone(gpu, { device: '0' }, 'removed')
  source.flush()
  const told = emitted.flatMap(({ type, records }) => (type === absenceType ? records : []))
  assert.deepEqual(
    told.map(({ series, code }) => [series, code]),
    [...['0', '1', '2', '3'].map((n) => [`device="${n}"`, 'failed']), ['device="0"', 'gone']],
  )
  assert.deepEqual([...source.stats.dropped], [['symbol_limit', 1]])
})
