// A collector of one's own: the free space of folders, as a job sees it. It reports to the agent of its node, and
// serves its own /metrics if PROMETHEUS_ENDPOINT is set. Its image is made by the Containerfile beside it.

import { statfs } from 'node:fs/promises'
import { createSchema, defineType, gauge, label, timestamp, wallNs } from '@sonde/sdk'

const INTERVAL_MS = 1000
const folders = (process.env.FOLDERS ?? '/tmp').split(',')

const schema = createSchema({ name: 'scratch', ipc: {} })
const scratch = schema.addType(
  defineType('scratch', 'A folder of temporary files', {
    time: timestamp(),
    folder: label('Path of the folder'),
    free_bytes: gauge('u64', { unit: 'bytes', help: 'Free space' }),
  }),
)
await schema.start()
const source = schema.createSource({ tag: 'folders', labels: { collector: 'scratch' }, flushIntervalMs: INTERVAL_MS })

async function report(): Promise<void> {
  for (const folder of folders) {
    const { bavail, bsize } = await statfs(folder)
    source.report(scratch, { time: wallNs(), folder, free_bytes: BigInt(bavail) * BigInt(bsize) })
  }
}

const timer = setInterval(report, INTERVAL_MS)
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, async () => {
    clearInterval(timer)
    // Records that the agent has not acknowledged are named on stderr.
    await schema.close().catch(() => undefined)
  })

await report()
try {
  await source.flush()
  const { ack, ipc } = schema.status()
  console.log(`acknowledged (${ack}), through ${ipc.mode === 'shared' ? 'shared memory' : 'the socket'}`)
} catch (error) {
  console.log(error instanceof Error ? error.message : String(error))
}
