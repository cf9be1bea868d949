import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testGpu } from '../devices/test-devices.ts'
import { type DeviceChartName, deviceCharts } from './device-charts.ts'

const NAMES: readonly DeviceChartName[] = ['sm', 'power']
const KNOWN = new Set(['DCGM_FI_PROF_SM_ACTIVE', 'DCGM_FI_DEV_POWER_USAGE'])
const POWER = new Map([['gpu-0', { power: Float64Array.of(300) }]])

/** Why each chart is absent. */
function absent(columns: Parameters<typeof deviceCharts>[2], isAnswered = true, knownMetrics = KNOWN) {
  const options = { knownMetrics, marks: [], isAnswered: () => isAnswered }
  return deviceCharts(NAMES, [testGpu(0), testGpu(1)], columns, options).map((chart) => chart.absent)
}

test('a signal that no GPU reports is told as absent where GPUs report others', () => {
  const why = 'No GPU reports DCGM_FI_PROF_SM_ACTIVE in this window; npx sonde explain DCGM_FI_PROF_SM_ACTIVE says why.'
  assert.deepEqual(absent(POWER), [why, ''])
})

test('charts stay where no sample is there at all, or the answer is awaited', () => {
  assert.deepEqual(absent(new Map()), ['', ''])
  assert.deepEqual(absent(POWER, false), ['', ''])
})

test('a metric that no source has is told so', () => {
  const none = 'No source reports DCGM_FI_PROF_SM_ACTIVE here.'
  assert.deepEqual(absent(POWER, true, new Set(['DCGM_FI_DEV_POWER_USAGE'])), [none, ''])
})
