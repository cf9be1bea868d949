import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ListedMetric } from '@sonde/sdk/api'
import { constantNames, fieldMatchers, metricLabelNames, metricsOfType } from './listed-metrics.ts'

const field = (name: string, metric: string, labels?: Record<string, string>): ListedMetric => ({
  ...{ name, metric, kind: 'f64', role: 'counter', unit: 'seconds', help: 'Time' },
  ...(labels === undefined ? {} : { labels }),
})
const cpu = {
  name: 'cpu',
  labels: ['cpu'],
  fields: [
    field('user', 'cpu_seconds_total', { mode: 'user' }),
    field('idle', 'cpu_seconds_total', { mode: 'idle', state: 'c1' }),
    field('throttles_total', 'cpu_throttles_total'),
  ],
}

test('lists a metric once, without the labels of its fields', () => {
  assert.deepEqual(metricsOfType(cpu), [field('seconds_total', 'cpu_seconds_total'), cpu.fields[2]])
})

test('the labels of a metric include the constant labels of all its fields', () => {
  assert.deepEqual(constantNames(cpu, 'cpu_seconds_total'), ['mode', 'state'])
  assert.deepEqual(metricLabelNames(cpu, 'cpu_seconds_total'), ['cpu', 'mode', 'state'])
  assert.deepEqual(metricLabelNames(cpu, 'cpu_throttles_total'), ['cpu'])
})

test('a field is selected by its constant labels', () => {
  assert.deepEqual(fieldMatchers(cpu.fields[1] as ListedMetric), [
    { label: 'mode', op: '=', value: 'idle' },
    { label: 'state', op: '=', value: 'c1' },
  ])
  assert.deepEqual(fieldMatchers(cpu.fields[2] as ListedMetric), [])
})
