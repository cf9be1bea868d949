import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ListedScenario } from '@sonde/sdk/api'
import { testGpu, testNic } from '../../devices/test-devices.ts'
import { firstFields, problemsOf, scenarioDeviceName, scenarioRequest, timeLeft } from './scenario-form.ts'

const STORM: ListedScenario = {
  name: 'retransmission-storm',
  summary: 'One rail loses packets without a sign of it',
  target: 'nic',
  targets: ['sim-nic-mlx5_0-1', 'sim-nic-mlx5_3-1'],
  severity: { unit: 'share of packets lost', min: 0.00001, max: 0.01, default: 0.0002 },
  durationS: 120,
}

test('a scenario that is chosen can be started as it stands', () => {
  const fields = firstFields(STORM)
  assert.deepEqual(problemsOf(STORM, fields), {})
  assert.deepEqual(scenarioRequest(STORM, fields), {
    name: 'retransmission-storm',
    severity: 0.0002,
    delayS: 0,
    durationS: 120,
  })
})

test('numbers are taken as people write them', () => {
  const fields = { device: 'sim-nic-mlx5_3-1', severity: ' 0,005 ', delayS: '1e1', durationS: '30' }
  assert.deepEqual(problemsOf(STORM, fields), {})
  assert.deepEqual(scenarioRequest(STORM, fields), {
    name: 'retransmission-storm',
    device: 'sim-nic-mlx5_3-1',
    severity: 0.005,
    delayS: 10,
    durationS: 30,
  })
})

test('each wrong field says what it takes', () => {
  const wrong = problemsOf(STORM, { device: '', severity: '2', delayS: '-1', durationS: '' })
  assert.deepEqual(wrong, {
    severity: 'A number from 0.00001 to 0.01.',
    delayS: 'A number from 0 to 86400.',
    durationS: 'A number from 1 to 86400.',
  })
})

test('a running scenario says when it begins or ends', () => {
  const running = {
    id: '3',
    name: 'x',
    device: 'd',
    severity: 1,
    state: 'running',
    onsetMs: 10_000,
    endMs: 75_000,
  } as const
  const spaced = (text: string): string => text.replaceAll('\u00a0', ' ')
  assert.equal(spaced(timeLeft(running, 5_000)), 'begins in 5 s')
  assert.equal(spaced(timeLeft(running, 10_000)), '1 min 5 s left')
  assert.equal(timeLeft(running, 75_000), 'ending')
})

test('what either happens or does not has no severity to choose', () => {
  const lost = { ...STORM, name: 'gpu-lost', severity: { unit: '', min: 1, max: 1, default: 1 } }
  assert.equal('severity' in scenarioRequest(lost, firstFields(lost)), false)
})

test('a device is called as on all pages', () => {
  const nic = testNic(3, { id: 'sim-nic-mlx5_3-1' })
  assert.equal(scenarioDeviceName(nic.id, [nic]), 'NIC 3 mlx5_3')
  assert.equal(scenarioDeviceName('sim-gpu-3', [nic, testGpu(3, { id: 'sim-gpu-3' })]), 'GPU 3')
  assert.equal(scenarioDeviceName('sim-gpu-3', []), 'gpu-3')
})
