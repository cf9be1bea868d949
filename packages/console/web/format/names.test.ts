import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareNames, seriesWords, titleOf } from './names.ts'

test('numbers in names count as numbers', () => {
  assert.deepEqual(['eth10', 'eth2', 'eth1'].sort(compareNames), ['eth1', 'eth2', 'eth10'])
})

test('a name is a title, with short names as their makers write them', () => {
  assert.equal(titleOf('pcie-downtrain'), 'PCIe downtrain')
  assert.equal(titleOf('retransmission_storm'), 'Retransmission storm')
  assert.equal(titleOf('xid'), 'XID')
})

test('a series is called by its labels, numbers with the name of theirs', () => {
  assert.equal(seriesWords({ device: 'eth10', priority: '3', simulated: 'true', empty: '' }), 'eth10 priority 3')
  assert.equal(seriesWords({}), '')
})
