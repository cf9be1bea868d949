import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turn } from './turn.ts'

/** Longer than the share of any turn. Unit: milliseconds. */
const LONG_MS = 20

function workLong(): void {
  const endMs = performance.now() + LONG_MS
  while (performance.now() < endMs);
}

test('a turn is over once work in steps has had its share, and the next one is another', async () => {
  assert.equal(turn.isOver(), false)
  workLong()
  assert.equal(turn.isOver(), true)
  await turn.next()
  assert.equal(turn.isOver(), false)
})

test('what waits already goes before the next step', async () => {
  const order: string[] = []
  for (const step of ['first', 'second']) {
    while (turn.isOver()) await turn.next()
    order.push(step)
    if (step === 'first') setImmediate(() => order.push('something else'))
    workLong()
  }
  assert.deepEqual(order, ['first', 'something else', 'second'])
})

test('all work of a turn has one share: who asks until there is time is alone in a turn that it fills', async () => {
  const order: string[] = []
  let isWatched = true
  const watch = () => {
    order.push('|')
    if (isWatched) setImmediate(watch)
  }
  setImmediate(watch)
  const work = async (name: string) => {
    while (turn.isOver()) await turn.next()
    order.push(name)
    workLong()
  }
  await Promise.all(['a', 'b', 'c'].map(work))
  isWatched = false
  assert.match(order.join(''), /^\|*a\|+b\|+c$/)
})

test('work that never ends leaves every other turn to work that asks for one', async () => {
  const order: string[] = []
  const work = async (name: string, steps: number) => {
    for (let step = 0; step < steps; step++) {
      while (turn.isOver()) await turn.next()
      order.push(name)
      workLong()
    }
  }
  await Promise.all([work('a', 6), work('b', 2), work('c', 2)])
  assert.equal(order.join(''), 'abcabcaaaa')
})
