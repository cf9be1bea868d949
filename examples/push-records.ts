// Sends records to an address over HTTP, and says what became of them. Queue, batches, retries and time limits are
// those of `delivery`. Run it with: npx node --conditions=source examples/push-records.ts http://127.0.0.1:4318/records

import {
  createSource,
  defineType,
  delivery,
  gauge,
  httpResult,
  label,
  readRecords,
  timestamp,
  viewsOf,
  wallNs,
} from '@sonde/sdk'

const url = process.argv[2] ?? 'http://127.0.0.1:4318/records'

const room = defineType('room', 'Climate of a room', {
  time: timestamp(),
  name: label(),
  temperature_celsius: gauge('f64', { unit: 'celsius', help: 'Temperature' }),
})

const sink = delivery<string>({
  name: 'rooms',
  queueLimitBytes: 1 << 20,
  retryLimitMs: 2000,
  // Pure: batches in, one request out.
  encode: (batches) =>
    batches
      .flatMap(({ bytes, count, symbols }) => [...readRecords(room, viewsOf(bytes), count, symbols)])
      .map(({ name, temperature_celsius }) => `${name} ${temperature_celsius}\n`)
      .join(''),
  // One attempt; delivery decides whether there is another.
  send: async (body, signal) => httpResult(await fetch(url, { method: 'POST', body, signal, redirect: 'manual' })),
})

const source = createSource({ id: 'example', emit: (batch) => sink.accept(batch) })
source.report(room, { time: wallNs(), name: 'hall', temperature_celsius: 21.5 })
source.report(room, { time: wallNs(), name: 'cellar', temperature_celsius: 12 })
source.flush()

try {
  await sink.flush()
  console.log(`${sink.stats.out} records arrived`)
} catch (error) {
  console.log(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
await sink.close()
