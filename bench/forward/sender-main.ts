// A sender in a process of its own: `sender-main.ts sonde|queue PORT`. It sends as many messages as it is told.
import { defineType } from '@sonde/sdk'
import { ForwardEndpoint } from '../../packages/sdk/src/sinks/fluent-bit/endpoint.ts'
import { createFluentBit } from '../../packages/sdk/src/sinks/fluent-bit/fluent-bit.ts'
import { EventChunks, forwardMessage } from '../../packages/sdk/src/wire/forward/message.ts'
import { portBatch, portFields } from '../port-records.ts'

const [kind, port] = [process.argv[2], Number(process.argv[3])]
const batch = portBatch(defineType('bench_port', 'A port', portFields))
const signal = new AbortController().signal
const endpoint = new ForwardEndpoint({ host: '127.0.0.1', port }, {}, 1000)
const chunks = new EventChunks({ tag: 'bench', layout: 'flb_std', mode: 'packed_forward' })
const sink = createFluentBit({ port, tag: 'bench' })

async function sendDirectly(): Promise<void> {
  for (const chunk of chunks.of([batch])) {
    await endpoint.send(forwardMessage(chunk, { mode: 'packed_forward' }), new Set(), () => undefined, signal)
    chunks.release(chunk)
  }
}

async function sendThroughQueue(): Promise<void> {
  sink.accept(batch)
  await sink.ready?.()
}

process.on('message', async (messages: number) => {
  const before = process.cpuUsage()
  for (let i = 0; i < messages; i++) await (kind === 'queue' ? sendThroughQueue() : sendDirectly())
  if (kind === 'queue') await sink.flush()
  const { user, system } = process.cpuUsage(before)
  process.send?.(user + system)
})
process.on('disconnect', () => process.exit())
process.send?.('ready')
