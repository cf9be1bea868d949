// An application that reports to the service as one does: `node client-main.ts SOCKETS_DIR`. A thousand records a
// second, a batch each 100 ms.
import { counter, createIpc, createSchema, defineType, gauge, label, timestamp, wallNs } from '@sonde/sdk'

const [, , socketsDir = ''] = process.argv
const EVERY_MS = 100
const RECORDS = 100

const schema = createSchema({ name: 'idle', sinks: [createIpc({ socketsDir })] })
const type = schema.addType(
  defineType('bench_step', 'Steps of an application', {
    time: timestamp(),
    worker: label('Worker'),
    steps_total: counter('u64', { help: 'Steps done' }),
    queue_seconds: gauge('f64', { unit: 'seconds', help: 'Time in the queue' }),
  }),
)
await schema.start()
const source = schema.createSource({ id: 'application', tag: 'bench' })
const workers = Array.from({ length: RECORDS }, (_, at) => `worker${at}`)
let steps = 0

async function report(): Promise<void> {
  steps++
  for (const worker of workers) source.report(type, { time: wallNs(), worker, steps_total: steps, queue_seconds: 0.01 })
  await source.flush()
}

await report()
console.log('ready on the service')
setInterval(() => void report(), EVERY_MS)
