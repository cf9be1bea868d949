import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupLanes, kindPlace, sortLanes } from './lane-groups.ts'
import { START_MS, testLane } from './test-lanes.ts'

const lanes = [
  testLane({ name: 'Step', kind: 'pod', type: 'training_step', device: 'trainer-0' }),
  testLane({ name: 'Power', kind: 'gpu', device: 'GPU 10' }),
  testLane({ name: 'Tensor', kind: 'gpu', device: 'GPU 9' }),
  testLane({ name: 'Pressure', kind: '', type: 'host_pressure', device: '' }),
  testLane({ name: 'Sent', kind: 'nic' }),
  testLane({ name: 'Stalls', kind: 'nic', isOfRule: true }),
  testLane({ name: 'Link', kind: 'pci' }),
]

test('the signal of the rule stands first, then PCIe, NIC, GPU, host and applications', () => {
  const groups = groupLanes(lanes)
  assert.deepEqual(
    groups.map(({ place }) => place),
    ['rule', 'pci', 'nic', 'gpu', 'host', 'application'],
  )
  assert.deepEqual(
    groups[3]?.lanes.map(({ device }) => device),
    ['GPU 9', 'GPU 10'],
  )
})

test('a lane of no known kind is of the host where its type is, else of an application', () => {
  assert.equal(kindPlace({ kind: '', type: 'host_cpu' }), 'host')
  assert.equal(kindPlace({ kind: '', type: 'conveyor' }), 'application')
  assert.equal(kindPlace({ kind: 'netdev', type: 'netdev' }), 'nic')
})

test('by first change, those that did not change come last', () => {
  const at = (name: string, earliestMs: number) => {
    const onset = {
      earliestMs: START_MS + earliestMs,
      latestMs: START_MS + earliestMs + 1,
      isRise: true,
      before: 0,
      after: 1,
    }
    return [name, { onset }] as const
  }
  const groups = sortLanes(lanes, new Map([at('Power', 5), at('Link', -9), at('Stalls', 0)]))
  assert.deepEqual(
    groups[0]?.lanes.map(({ name }) => name),
    ['Link', 'Stalls', 'Power'],
  )
  assert.equal(groups[1]?.lanes.length, 4)
})
