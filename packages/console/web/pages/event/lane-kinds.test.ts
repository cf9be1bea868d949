import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kindOptions } from './lane-kinds.ts'

const KINDS = [
  { kind: 'gpu', lanes: 14000 },
  { kind: 'rpc_client', lanes: 3 },
  { kind: '', lanes: 9 },
]

test('kinds are named in words, with their signals, but for those of which nothing is known', () => {
  assert.deepEqual(kindOptions(KINDS, ''), [
    ['gpu', 'GPU, 14\u202f000'],
    ['rpc_client', 'rpc client, 3'],
  ])
})

test('a kind that is asked for and that nothing has can be seen and left', () => {
  assert.deepEqual(kindOptions(KINDS, 'nic')[0], ['nic', 'NIC, 0'])
  assert.equal(kindOptions(KINDS, 'gpu').length, 2)
})
