// A sender in a process of its own: `sender-main.ts URL LABELS [QUEUE_DIR]`. It sends as many sweeps as it is told.

import { createRemoteWrite } from '../../packages/sdk/src/sinks/remote-write/remote-write.ts'
import { sweeps } from './records.ts'

const [url = '', labels = '{}', queueDir] = process.argv.slice(2)
const externalLabels = JSON.parse(labels) as Record<string, string>
const sink = createRemoteWrite({ url, externalLabels, queueDir, lingerMs: 0, requestSamplesMax: 10_000 })
const next = sweeps()

process.on('message', async (count: number) => {
  const batches = Array.from({ length: count }, next)
  const before = process.cpuUsage()
  for (const batch of batches) {
    sink.accept(batch)
    await sink.flush()
    while (sink.queuedRecords > 0) await new Promise((resolve) => setTimeout(resolve, 1))
  }
  const { user, system } = process.cpuUsage(before)
  process.send?.(user + system)
})
process.on('disconnect', () => process.exit())
process.send?.('ready')
