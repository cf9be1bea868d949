import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Absences, type Batch, createSource, defineType, gauge, type Source } from '@sonde/sdk'
import { SourceStats } from './source-stats.ts'

const probe = defineType('probe', 'A probe', { level: gauge('f64') })

test('what a source says again and again is not counted as measured; its periods are told', () => {
  const stats = new SourceStats()
  const source = createSource({ id: 'made', intervalMs: 500, emit: (batch) => stats.accepted(batch) })
  source.setPeriod(probe, { device: 'a', sampleUs: 100, reportUs: 250_000 })
  source.report(probe, [{ level: 1 }, { level: 2 }])
  new Absences(source).set(probe, undefined, '', 'denied', 'a reason')
  source.emit()
  assert.deepEqual([stats.records, stats.stateRecords], [2, 3])
  assert.deepEqual(stats.periods, [
    { type: '', device: '', sampleUs: null, drainUs: null, reportUs: 500_000 },
    { type: 'probe', device: 'a', sampleUs: 100, drainUs: null, reportUs: 250_000 },
  ])
})

test('the periods of devices that left are forgotten, and those of others are kept', () => {
  const stats = new SourceStats()
  let arrivedMs = 0
  const emit = (batch: Batch) => stats.accepted({ ...batch, arrivedMs })
  const say = (source: Source) => {
    source.report(probe, { level: 1 })
    source.emit()
  }
  const devices = () => stats.periods.map(({ device }) => device)
  const source = createSource({ id: 'made', intervalMs: 500, emit })
  source.setPeriod(undefined, { device: 'a', reportUs: 1 })
  say(source)
  const next = createSource({ id: 'made', intervalMs: 500, emit })
  next.setPeriod(undefined, { device: 'b', reportUs: 1 })
  arrivedMs = 149_000
  say(next)
  assert.deepEqual(devices(), ['', 'a', 'b'])
  next.changePeriod('b', { reportUs: 2 })
  arrivedMs = 151_000
  say(next)
  assert.deepEqual(devices(), ['', 'b'])
  assert.deepEqual(stats.periods.at(-1), { type: '', device: 'b', sampleUs: null, drainUs: null, reportUs: 2 })
})
