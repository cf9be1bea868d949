import assert from 'node:assert/strict'
import { test } from 'node:test'
import { routeAddress } from './route-address.ts'

test('parameters of a path stand in it, and the others in the query unless they are empty', () => {
  const event = '/api/v1/incidents/:id'
  assert.equal(routeAddress(event, { id: '12', find: '', kind: undefined }), '/api/v1/incidents/12')
  assert.equal(
    routeAddress(event, { id: 12, find: 'rx & tx', kind: 'nic' }),
    '/api/v1/incidents/12?find=rx%20%26%20tx&kind=nic',
  )
  assert.equal(routeAddress(event, { id: '1/2', from: 0 }), '/api/v1/incidents/1%2F2?from=0')
})
