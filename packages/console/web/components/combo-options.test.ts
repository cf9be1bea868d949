import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rankOptions } from './combo-options.ts'

const OPTIONS = [
  { value: 'netdev_rx_dropped_total', note: 'Packets received and dropped' },
  { value: 'host_softnet_dropped_total', note: 'Packets dropped because the backlog was full' },
  { value: 'netdev_rx_packets_total', note: 'Packets received' },
]

const values = (text: string): readonly string[] => rankOptions(OPTIONS, text).map(({ value }) => value)

test('every word must be found, in any order, and names come before explanations', () => {
  assert.deepEqual(values('dropped NETDEV'), ['netdev_rx_dropped_total'])
  assert.deepEqual(values('packets'), [
    'netdev_rx_packets_total',
    'netdev_rx_dropped_total',
    'host_softnet_dropped_total',
  ])
  assert.deepEqual(values('rx_drop'), ['netdev_rx_dropped_total'])
  assert.deepEqual(values('backlog gpu'), [])
})

test('nothing typed leaves the order alone', () => {
  assert.deepEqual(rankOptions(OPTIONS, ' '), OPTIONS)
})

test('what is named so, or begins so, comes before what has a word of it, and that before what has it somewhere', () => {
  const options = ['Explorer', 'host_load1', 'load', 'lo'].map((value) => ({ value }))
  assert.deepEqual(
    rankOptions(options, 'lo').map(({ value }) => value),
    ['lo', 'load', 'host_load1', 'Explorer'],
  )
})
