import assert from 'node:assert/strict'
import { test } from 'node:test'
import { absenceType, defineType, gauge } from '@sonde/sdk'
import { SourceStats } from './source-stats.ts'

test('what is repeated about absent values is not counted as measured', () => {
  const stats = new SourceStats()
  stats.accepted({ type: defineType('probe', 'A probe', { level: gauge('f64') }), count: 4 })
  stats.accepted({ type: absenceType, count: 6 })
  assert.deepEqual([stats.records, stats.absenceRecords], [4, 6])
})
