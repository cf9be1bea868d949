import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Flights } from './flights.ts'

function flights(bytes = 1) {
  const clock = { nowMs: 0 }
  let asked = 0
  const kept = new Flights<number>(
    () => bytes,
    () => clock.nowMs,
  )
  const take = (key: string) => kept.take(key, async () => ++asked)
  return { clock, take, asked: () => asked }
}

test('who asks the same at a time, and a moment later, shares one answer', async () => {
  const { clock, take, asked } = flights()
  assert.deepEqual(await Promise.all([take('a'), take('a'), take('b')]), [1, 1, 2])
  clock.nowMs = 1999
  assert.equal(await take('a'), 1)
  clock.nowMs = 2000
  assert.equal(await take('a'), 3)
  assert.equal(asked(), 3)
})

test('a failure reaches all who wait, and is not kept', async () => {
  const kept = new Flights<number>(() => 1)
  const fail = () => Promise.reject(new Error('down'))
  const both = await Promise.allSettled([kept.take('a', fail), kept.take('a', () => Promise.resolve(1))])
  assert.deepEqual(
    both.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.equal(await kept.take('a', () => Promise.resolve(7)), 7)
})

test('neither many answers nor large ones are kept', async () => {
  const many = flights()
  for (let i = 0; i < 1000; i++) await many.take(`${i}`)
  await many.take('0')
  assert.equal(many.asked(), 1001)
  await many.take('999')
  assert.equal(many.asked(), 1001)
  const large = flights(64 << 20)
  await large.take('a')
  await large.take('a')
  assert.equal(large.asked(), 2)
})
