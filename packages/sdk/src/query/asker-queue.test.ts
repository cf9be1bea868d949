import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AskerQueue } from './asker-queue.ts'

function asker(host: string, connection: string) {
  return { host, connection, isGone: () => false }
}

/** A queue of items that name their asker, in this order. */
function queueOf(added: readonly string[]): AskerQueue<string> {
  const queue = new AskerQueue<string>()
  for (const item of added) queue.add(item[0] === '-' ? undefined : asker(item[0] ?? '', item[1] ?? ''), item)
  return queue
}

function drained(queue: AskerQueue<string>): string {
  const items: string[] = []
  for (let next = queue.next(); next !== undefined; next = queue.next()) items.push(next)
  assert.equal(queue.count, 0)
  return items.join(' ')
}

test('hosts take turns, then their connections; of one connection the oldest goes first', () => {
  assert.equal(drained(queueOf(['a1x', 'a1y', 'a1z', 'a2x', 'b1x', '--x', 'b1y'])), 'a1x b1x --x a2x b1y a1y a1z')
})

test('who had a turn waits behind all others', () => {
  const queue = queueOf(['a1x', 'b1x', 'c1x'])
  assert.equal(queue.next(), 'a1x')
  queue.add(asker('a', '1'), 'a1y')
  assert.equal(drained(queue), 'b1x c1x a1y')
})

test('room is made by the host that has most, of its connection that has most, whose newest leaves', () => {
  const queue = queueOf(['a1x', 'b1x', 'b2x', 'b2y', 'c1x', 'c1y'])
  assert.equal(queue.takeFromLargest(), 'b2y')
  assert.equal(queue.takeFromLargest(), 'c1y')
  assert.equal(queue.takeFromLargest(), 'b2x', 'of equals the last')
  assert.equal(drained(queue), 'a1x b1x c1x')
  assert.equal(queue.takeFromLargest(), undefined)
})

test('what is taken out is gone once', () => {
  const queue = queueOf(['a1x', 'a1y'])
  assert.deepEqual([queue.remove(asker('a', '1'), 'a1x'), queue.remove(asker('a', '1'), 'a1x')], [true, false])
  assert.equal(drained(queue), 'a1y')
})
