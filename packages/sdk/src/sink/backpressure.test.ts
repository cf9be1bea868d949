import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SimulatedTimers, settle } from '../../test/simulated-timers.ts'
import { Backpressure } from './backpressure.ts'

/** A backpressure of 100 bytes, and whether who waited last goes on. */
function rig() {
  const timers = new SimulatedTimers()
  const backpressure = new Backpressure({ limitBytes: 100, stallMs: 1000, timers })
  const wait = (queuedBytes: number) => {
    const waiter = { isOn: false }
    const waiting = backpressure.wait(queuedBytes)
    assert.ok(waiting !== undefined, 'there is backpressure')
    void waiting.then(() => {
      waiter.isOn = true
    })
    return waiter
  }
  return { timers, backpressure, wait }
}

test('a producer waits from more than half of the limit on, until a quarter is left', async () => {
  const { backpressure, wait } = rig()
  assert.equal(backpressure.wait(50), undefined)
  const waiter = wait(51)
  backpressure.left(26)
  await settle()
  assert.equal(waiter.isOn, false)
  backpressure.left(25)
  await settle()
  assert.equal(waiter.isOn, true)
  assert.equal(backpressure.wait(25), undefined)
})

test('nobody waits longer than the limit while nothing leaves, and everybody waits again once something does', async () => {
  const { timers, backpressure, wait } = rig()
  const waiter = wait(100)
  await timers.advance(900)
  backpressure.left(90)
  await timers.advance(1099)
  assert.equal(waiter.isOn, false, 'something left since the watch began')
  await timers.advance(1000)
  assert.equal(waiter.isOn, true)
  assert.equal(backpressure.wait(100), undefined)
  backpressure.left(80)
  const again = wait(80)
  await timers.advance(999)
  assert.equal(again.isOn, false)
  backpressure.open()
  await settle()
  assert.equal(again.isOn, true)
  assert.equal(timers.count, 0)
})

test('a loop is blocked where one turn brings more than half of the limit', async () => {
  const { backpressure } = rig()
  assert.equal(backpressure.isLoopBlocked, false)
  backpressure.entering(50)
  backpressure.entering(100)
  assert.equal(backpressure.isLoopBlocked, true)
  await settle()
  assert.equal(backpressure.isLoopBlocked, false)
  backpressure.entering(51)
  assert.equal(backpressure.isLoopBlocked, false, 'what was there before waits for the other side')
})
