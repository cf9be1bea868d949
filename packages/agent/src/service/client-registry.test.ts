import assert from 'node:assert/strict'
import { test } from 'node:test'
import { check } from '@sonde/sdk/config'
import pino from 'pino'
import { BatchSource } from '../../../sdk/test/sink-records.ts'
import { Faults } from '../pipeline/faults.ts'
import { Client } from './client.ts'
import { ClientRegistry } from './client-registry.ts'
import { serviceSchema } from './config.ts'

test('a client whose pages are tiny waits before what they take beside their records fills memory', () => {
  const checked = check(serviceSchema, { client_bytes: 1 << 20 }, 'service')
  assert.ok(checked.ok)
  const log = pino({ level: 'silent' })
  const none = () => undefined
  const room = new ClientRegistry({
    config: checked.value,
    log,
    faults: new Faults(log),
    sinks: [],
    ownKinds: new Set(),
    waitedFor: [],
    accept: none,
    gone: none,
  })
  const client = new Client(1n, 0n)
  const batch = new BatchSource().ports({ a: 1 })
  let sequence = 0n
  while (client.inFlightBytes <= checked.value.client_bytes) {
    room.accept({ ...batch, page: { client: client.id, sequence: ++sequence } }, client)
  }
  assert.ok(sequence < 600n, `${sequence} pages of ${batch.bytes.byteLength} bytes were taken`)
  room.inFlight.release(client.done(sequence, { dropped: {}, hidden: {} }))
  assert.deepEqual([client.inFlightBytes, room.inFlight.bytes], [0, 0])
})
