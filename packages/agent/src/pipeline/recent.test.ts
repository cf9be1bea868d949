import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testHistory } from '../../../sdk/test/test-history.ts'
import { RecentRing } from './recent.ts'

testHistory('the ring of the last minutes', async () => {
  const history = new RecentRing({ windowS: 3600 })
  return {
    history,
    accept: (batch) => history.accept(batch),
    settle: () => history.flush(),
    close: () => history.close(),
  }
})

test('of many who ask at once, one whose answer fills a turn lets what waits go before the next', async (t) => {
  const ring = new RecentRing()
  const order: string[] = []
  t.mock.method(ring, 'queryNow', () => {
    order.push('answer')
    if (order.length === 1) setImmediate(() => order.push('something else'))
    const endMs = performance.now() + 20
    while (performance.now() < endMs);
  })
  const request = { fromMs: 0, toMs: 1000, stepMs: 1000, queries: [] }
  await Promise.all([ring.query(request), ring.query(request)])
  assert.deepEqual(order, ['answer', 'something else', 'answer'])
})
