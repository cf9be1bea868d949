import assert from 'node:assert/strict'
import { test } from 'node:test'
import { counter, defineType, gauge, label, timestamp } from '@sonde/sdk'
import type { EventLane } from '@sonde/sdk/api'
import { pciDeviceType } from '../../sources/pci/type.ts'
import type { IndexSignal, KeptSeries, ReadIndex } from '../keep/kept-index.ts'
import { FAR } from '../nearness.ts'
import { eventLanes } from './lanes.ts'

const EVENT = { device: 'own' }
const ovenType = defineType('oven', 'An oven', {
  time: timestamp(),
  device: label('Device'),
  celsius: gauge('f64'),
  doors_total: counter('u64'),
})

/** A series whose signals, but for `celsius` or the link's speed, stood still. `moved`: 0 not at all, 1 as it does. */
function seriesOf(device: string, near: number, moved: number, part = 0): KeptSeries {
  const { layout } = part === 0 ? ovenType : pciDeviceType
  const field = part === 0 ? 'celsius' : 'current_link_speed_transfers_per_second'
  return {
    ...{ part, key: [], labels: { device }, device, deviceName: device, kind: '', near, apart: [] },
    moves: layout.slots.map(({ name }) => (name === field ? String(moved) : '0')).join(''),
    ...{ samples: 1, fromMs: 0, toMs: 1, resolutionMs: 1, errorMs: 0, gaps: [] },
  }
}

/** The first lanes of the ranking, as `DEVICE FIELD`. */
async function order(series: readonly KeptSeries[], count: number, more: Partial<ReadIndex> = {}): Promise<string[]> {
  const types = [ovenType, pciDeviceType]
  const parts = types.map(({ fingerprint }) => ({ source: 's', fingerprint, definition: {}, isRing: false }))
  const index = { parts, types, blocks: [], listed: [], series, ...more } as unknown as ReadIndex
  const named = ({ device, name }: EventLane) => `${device} ${name}`
  return (await eventLanes(EVENT, index)).lanes.slice(0, count).map(named)
}

const CELSIUS: IndexSignal = { type: 'oven', field: 'celsius', labels: {} }

test('the signal of the rule on the device of the event stands first, though it stood still', async () => {
  const series = [seriesOf('near', 1, 9), seriesOf('own', 0, 0)]
  assert.deepEqual(await order(series, 2, { signal: CELSIUS }), ['own celsius', 'near celsius'])
})

test('listed signals come before moved signals, the nearest first, except listed signals that stood still elsewhere', async () => {
  const series = [seriesOf('far', FAR, 0), seriesOf('farther', FAR, 2), seriesOf('near', 1, 0), seriesOf('own', 0, 0)]
  const pci = seriesOf('bus', 1, 9, 1)
  assert.deepEqual(await order([...series, pci], 4, { listed: [CELSIUS] }), [
    'own celsius',
    'near celsius',
    'farther celsius',
    'bus current_link_speed_transfers_per_second',
  ])
})

test('moved signals come before signals with usual movement, and these before still signals', async () => {
  const series = [seriesOf('still', 1, 0), seriesOf('wandering', 0, 1), seriesOf('moved', 1, 2)]
  assert.deepEqual(await order(series, 2), ['moved celsius', 'wandering celsius'])
})

test('of moved signals, near devices come before the rest of the node, and the farthest movement comes first', async () => {
  const series = [seriesOf('far', FAR, 9), seriesOf('near', 1, 3), seriesOf('own', 0, 5)]
  assert.deepEqual(await order(series, 3), ['own celsius', 'near celsius', 'far celsius'])
})

test('a signal that hints use comes before others that moved farther', async () => {
  const series = [seriesOf('a', 1, 9), seriesOf('bus', 1, 2, 1)]
  assert.deepEqual(await order(series, 2), ['bus current_link_speed_transfers_per_second', 'a celsius'])
})
