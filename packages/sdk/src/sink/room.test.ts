import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SimulatedTimers, settle } from '../../test/simulated-timers.ts'
import { Room } from './room.ts'

/** A room of 100 bytes, and whether who waited last goes on. */
function rig() {
  const timers = new SimulatedTimers()
  const room = new Room({ limitBytes: 100, stallMs: 1000, timers })
  const wait = (queuedBytes: number) => {
    const waiter = { isOn: false }
    const waiting = room.wait(queuedBytes)
    assert.ok(waiting !== undefined, 'there is room')
    void waiting.then(() => {
      waiter.isOn = true
    })
    return waiter
  }
  return { timers, room, wait }
}

test('a producer waits from more than half of the limit on, until a quarter is left', async () => {
  const { room, wait } = rig()
  assert.equal(room.wait(50), undefined)
  const waiter = wait(51)
  room.left(26)
  await settle()
  assert.equal(waiter.isOn, false)
  room.left(25)
  await settle()
  assert.equal(waiter.isOn, true)
  assert.equal(room.wait(25), undefined)
})

test('nobody waits longer than the limit while nothing leaves, and everybody waits again once something does', async () => {
  const { timers, room, wait } = rig()
  const waiter = wait(100)
  await timers.advance(900)
  room.left(90)
  await timers.advance(1099)
  assert.equal(waiter.isOn, false, 'something left since the watch began')
  await timers.advance(1000)
  assert.equal(waiter.isOn, true)
  assert.equal(room.wait(100), undefined)
  room.left(80)
  const again = wait(80)
  await timers.advance(999)
  assert.equal(again.isOn, false)
  room.open()
  await settle()
  assert.equal(again.isOn, true)
  assert.equal(timers.count, 0)
})

test('a loop is blocked where one turn brings more than half of the limit', async () => {
  const { room } = rig()
  assert.equal(room.isLoopBlocked, false)
  room.entering(50)
  room.entering(100)
  assert.equal(room.isLoopBlocked, true)
  await settle()
  assert.equal(room.isLoopBlocked, false)
  room.entering(51)
  assert.equal(room.isLoopBlocked, false, 'what was there before waits for the other side')
})
