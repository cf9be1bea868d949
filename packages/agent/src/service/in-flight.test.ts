import assert from 'node:assert/strict'
import { test } from 'node:test'
import { check } from '@sonde/sdk/config'
import { Client } from './client.ts'
import { serviceSchema } from './config.ts'
import { InFlight } from './in-flight.ts'

const LIVES = () => false

test('clients that fill the limit of all wait, and one that has less than its share does not', async () => {
  const checked = check(serviceSchema, { clients: 4, total_bytes: 16 << 20 }, 'service')
  assert.ok(checked.ok)
  const inFlight = new InFlight(checked.value, Number.POSITIVE_INFINITY)
  const take = (client: Client, sequence: bigint, bytes: number) => {
    client.took(sequence, bytes)
    inFlight.take(bytes)
  }
  const [greedy, modest] = [new Client(1n, 0n), new Client(2n, 0n)]
  take(greedy, 1n, (16 << 20) + 1)
  let isServed = false
  const waiting = inFlight.room(greedy, 0, LIVES)?.then(() => {
    isServed = true
  })
  for (let sequence = 1n; sequence <= 1024n; sequence++) {
    await inFlight.room(modest, 0, LIVES)
    take(modest, sequence, 1 << 10)
  }
  assert.equal(isServed, false, 'the greedy client waits')
  take(modest, 1025n, 1)
  let isModestServed = false
  void inFlight.room(modest, 0, LIVES)?.then(() => {
    isModestServed = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(isModestServed, false, 'beyond its share it waits as well')
  inFlight.release(greedy.done(1n, { dropped: {}, hidden: {} }))
  await waiting
})
