import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageBase, scopedAddress, scopedNode } from './node-scope.ts'

function at(pathname: string): void {
  Object.defineProperty(globalThis, 'location', { value: { pathname }, configurable: true })
}

test('a page below /nodes/NAME asks that node, and the console for what the console itself has', () => {
  at('/nodes/gpu17%3A9394/gpus/gpu0')
  assert.deepEqual([pageBase(), scopedNode()], ['/nodes/gpu17%3A9394', 'gpu17:9394'])
  assert.equal(scopedAddress('/api/v1/hints?from=1'), '/api/v1/nodes/gpu17%3A9394/hints?from=1')
  for (const own of ['/api/v1/session', '/api/v1/params/undo', '/api/v1/nodes', '/api/v1/audit?x=1'])
    assert.equal(scopedAddress(own), own)
})

test('other pages ask the server that they came from', () => {
  for (const path of ['/', '/nodes', '/nodes/', '/gpus']) {
    at(path)
    assert.deepEqual([pageBase(), scopedNode(), scopedAddress('/api/v1/node')], ['', '', '/api/v1/node'], path)
  }
})
