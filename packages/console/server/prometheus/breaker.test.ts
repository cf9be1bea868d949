import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Breaker } from './breaker.ts'

function at(startMs = 0) {
  const clock = { nowMs: startMs }
  return { clock, breaker: new Breaker(() => clock.nowMs) }
}

function fail(breaker: Breaker): void {
  assert.equal(breaker.enter(), 0)
  breaker.settle(false)
}

test('three failures within a minute spare the server for 30 s; then one request alone tries', () => {
  const { clock, breaker } = at(5)
  for (let i = 0; i < 3; i++) fail(breaker)
  assert.equal(breaker.enter(), 30_000)
  clock.nowMs += 30_000
  assert.equal(breaker.enter(), 0)
  assert.ok(breaker.enter() > 0, 'a second one waits for the first')
  breaker.settle(false)
  assert.equal(breaker.enter(), 30_000)
  clock.nowMs += 30_000
  assert.equal(breaker.enter(), 0)
  breaker.settle(true)
  assert.equal(breaker.enter(), 0)
  assert.equal(breaker.enter(), 0)
})

test('failures further apart than a minute spare nothing', () => {
  const { clock, breaker } = at()
  for (let i = 0; i < 10; i++) {
    fail(breaker)
    clock.nowMs += 30_000
  }
  assert.equal(breaker.enter(), 0)
})
