// An application that hands its records to the agent of its node, which shows them in its own /metrics, and keeps and
// draws them as its own. Start `npx sonde agent` (or `up`), then run: npx node --conditions=source
// examples/app-over-ipc.ts [FOLDER OF THE SOCKET]

import { createMetrics, createSchema, defineType, gauge, label, text, timestamp, wallNs } from '@sonde/sdk'

const [socketsDir] = process.argv.slice(2)

const schema = createSchema({ name: 'bakery', ipc: socketsDir === undefined ? {} : { socketsDir } })
const oven = schema.addType(
  defineType('oven', 'An oven of the bakery', {
    time: timestamp(),
    name: label('Name of the oven'),
    temperature_celsius: gauge('f64', { unit: 'celsius', help: 'Temperature inside' }),
    doing: text({ help: 'What it does' }),
  }),
)
await schema.start()
const source = schema.createSource({ tag: 'ovens', labels: { bakery: 'north' }, flushIntervalMs: 1000 })
const metrics = createMetrics(source)
const loaves = metrics.counter('loaves_total', { help: 'Loaves baked', labels: ['kind'] })

const rye = loaves.bind({ kind: 'rye' })

let minutes = 0
function report(): void {
  minutes++
  source.report(oven, { time: wallNs(), name: 'left', temperature_celsius: 180 + minutes / 2, doing: 'bakes' })
  rye.add(2)
}

// Until somebody ends it: series of an application leave the agent's /metrics with it.
const timer = setInterval(report, 1000)
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    clearInterval(timer)
    try {
      await schema.close()
    } catch (error) {
      // Without an agent, what was reported ends with the application.
      console.error(error instanceof Error ? error.message : error)
      process.exitCode = 1
    }
  })
}

// Resolves once the agent has acknowledged: from then on it is the agent's to keep.
report()
try {
  await Promise.all([source.flush(), metrics.flush()])
  const { ack, ipc } = schema.status()
  console.log(`acknowledged (${ack}), through ${ipc.mode === 'shared' ? 'shared memory' : 'the socket'}`)
} catch (error) {
  // Nothing is lost yet: it is sent once an agent is there.
  console.log(schema.status().ipc.lastError?.message ?? String(error))
}
