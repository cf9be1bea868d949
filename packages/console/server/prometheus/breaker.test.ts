import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Breaker } from './breaker.ts'

/** Enters the breaker at a time, and reports an outcome. Returns the wait if the breaker refuses. */
function visits() {
  let nowMs = 0
  const breaker = new Breaker(() => nowMs)
  return (atMs: number, isWell: boolean): number => {
    nowMs = atMs
    const waitMs = breaker.enter()
    if (waitMs === 0) breaker.settle(isWell)
    return waitMs
  }
}

test('after three failures within a minute nothing is asked for 30 s, then one request tries', () => {
  const visit = visits()
  for (const atMs of [0, 1000, 2000]) assert.equal(visit(atMs, false), 0)
  assert.equal(visit(3000, true), 29_000)
  assert.equal(visit(32_000, false), 0)
  assert.equal(visit(32_001, true), 29_999)
  assert.equal(visit(62_000, true), 0)
  assert.equal(visit(62_001, true), 0)
})

test('failures that lie far apart do not open it', () => {
  const visit = visits()
  for (const atMs of [0, 61_000, 122_000, 183_000]) assert.equal(visit(atMs, false), 0)
})

test('while one request tries, the others wait', () => {
  let nowMs = 0
  const breaker = new Breaker(() => nowMs)
  for (let failed = 0; failed < 3; failed++) breaker.settle(false)
  nowMs = 30_000
  assert.equal(breaker.enter(), 0)
  assert.equal(breaker.enter(), 1000)
})
