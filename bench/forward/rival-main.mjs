// The client of @fluent-org/logger in a process of its own: `rival-main.mjs PORT`. It sends as many messages as it is
// told. Plain JavaScript, because its types do not compile with ours.
import { setImmediate } from 'node:timers/promises'
import { EventTime, FluentClient } from '@fluent-org/logger'

const RECORDS = 1000
const port = Number(process.argv[2])
const client = new FluentClient('bench', {
  eventMode: 'PackedForward',
  socket: { host: '127.0.0.1', port },
})
const time = new EventTime(1_790_000_000, 0)
const events = Array.from({ length: RECORDS }, (_, i) => ({
  timestamp: 1_790_000_000_000_000,
  type: 'counters',
  type_name: 'bench_port',
  source: 'bench',
  time: 1_790_000_000_000_000,
  rx_bytes_total: i * 1e9,
  rx_packets_total: i * 1e6,
  rx_drops_total: i,
  tx_bytes_total: i * 1e9,
  tx_packets_total: i * 1e6,
  tx_drops_total: i,
  heat: 41.5,
  number: i,
  device: `eth${i % 16}`,
}))

process.on('message', async (messages) => {
  const before = process.cpuUsage()
  for (let i = 0; i < messages; i++) {
    for (const event of events) void client.emit(event, time)
    await client.flush()
    await setImmediate()
  }
  await client.waitForPending()
  const { user, system } = process.cpuUsage(before)
  process.send?.(user + system)
})
process.on('disconnect', () => process.exit())
process.send?.('ready')
