import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Absences, createSource, defineType, gauge, label, optional, timestamp, wallNs } from '@sonde/sdk'
import { latestSeries } from './latest.ts'
import { RecentRing } from './recent.ts'

const type = defineType('port', '', {
  time: timestamp(),
  device: label(),
  celsius: optional(gauge('f64')),
  volts: optional(gauge('f64')),
})

function rigOf() {
  const recent = new RecentRing()
  const source = createSource({ id: 'test', intervalMs: 1000, emit: (batch) => recent.accept(batch) })
  const absences = new Absences(source)
  const reasonsOf = (metric: string) => {
    source.flush()
    return latestSeries(recent, { metric }).map(({ labels, value, absent }) => [labels.device, value, absent])
  }
  return { recent, source, absences, reasonsOf }
}

test('an absent value has the reason of its series, or else that of its type', () => {
  const { source, absences, reasonsOf } = rigOf()
  for (const device of ['a', 'b']) source.report(type, { time: wallNs(), device })
  absences.set(type, undefined, 'celsius', 'unsupported', 'the driver has no sensor')
  absences.set(type, { device: 'a' }, 'celsius', 'denied', 'only root may read it')
  assert.deepEqual(reasonsOf('port_celsius'), [
    ['b', null, 'the driver has no sensor'],
    ['a', null, 'only root may read it'],
  ])
})

test('a series without a record is listed as long as its source reports it as absent', () => {
  const { source, absences, reasonsOf } = rigOf()
  const [missing, withoutVolts] = [{ device: 'missing "x"' }, { device: 'c' }]
  absences.set(type, missing, '', 'unsupported', 'no device has this name')
  absences.set(type, withoutVolts, 'volts', 'unsupported', 'no sensor')
  assert.deepEqual(reasonsOf('port_volts'), [], 'the source reports no record of the type')
  source.report(type, { time: wallNs(), device: 'a', celsius: 1, volts: 2 })
  assert.deepEqual(reasonsOf('port_celsius'), [
    ['a', '1', ''],
    ['missing "x"', null, 'no device has this name'],
  ])
  assert.deepEqual(reasonsOf('port_volts'), [
    ['a', '2', ''],
    ['missing "x"', null, 'no device has this name'],
    ['c', null, 'no sensor'],
  ])
  absences.gone(type, missing, 'it left')
  absences.clear(type, withoutVolts, 'volts')
  assert.deepEqual(reasonsOf('port_volts'), [['a', '2', '']])
})

test('absent series of a declared type without any record are listed with the reason', () => {
  const { source, absences, recent } = rigOf()
  absences.set(type, { device: 'a' }, '', 'unsupported', 'no sensor')
  source.flush()
  const of = { metric: 'port_volts' }
  assert.deepEqual(latestSeries(recent, of), [])
  assert.deepEqual(
    latestSeries(recent, of, [type]).map(({ labels, absent }) => [labels, absent]),
    [[{ device: 'a' }, 'no sensor']],
  )
})

test('absent series of a source that left, or past 1000 of a type, are not listed', () => {
  const { recent, source, absences, reasonsOf } = rigOf()
  const other = createSource({ id: 'other', intervalMs: 1000, emit: (batch) => recent.accept(batch) })
  other.report(type, { time: wallNs(), device: 'a', volts: 2 })
  other.flush()
  for (let i = 0; i < 1200; i++) absences.set(type, { device: `d${i}` }, '', 'unsupported', 'no sensor')
  assert.equal(reasonsOf('port_volts').length, 1001)
  recent.retire(source.info)
  assert.deepEqual(reasonsOf('port_volts'), [['a', '2', '']])
})
