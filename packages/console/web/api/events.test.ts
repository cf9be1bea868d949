import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventAddress } from './events.ts'

test('the address of an event says which lanes are asked for, and nothing where all are', () => {
  assert.equal(eventAddress('12', { find: ' ', kind: '' }), '/api/v1/events/12')
  assert.equal(eventAddress('12', { find: 'rx & tx ', kind: 'nic' }), '/api/v1/events/12?find=rx+%26+tx&kind=nic')
  assert.equal(eventAddress('1/2', { find: '', kind: 'gpu' }), '/api/v1/events/1%2F2?kind=gpu')
})
