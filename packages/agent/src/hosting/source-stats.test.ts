import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Absences, createSource, defineType, gauge } from '@sonde/sdk'
import { SourceStats } from './source-stats.ts'

test('what a source says again and again is not counted as measured; its periods are told', () => {
  const stats = new SourceStats()
  const source = createSource({ id: 'made', intervalMs: 500, emit: (batch) => stats.accepted(batch) })
  const probe = defineType('probe', 'A probe', { level: gauge('f64') })
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
