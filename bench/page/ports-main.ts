// A whole `sonde up` in one process whose adapters are records of the SDK: every signal of the fabric page, ten times a
// second.
import { createStore } from '@sonde/console'
import { type Batch, createSource, type RecordType } from '@sonde/sdk'
import { ethtoolPortType, ethtoolPriorityType } from '../../packages/agent/src/sources/ethtool/type.ts'
import { pciDeviceType } from '../../packages/agent/src/sources/pci/type.ts'
import {
  rdmaHwFirstType,
  rdmaHwType,
  rdmaPortCountersType,
  rdmaPortType,
} from '../../packages/agent/src/sources/rdma/type.ts'
import { listen, makeAgent } from './listen.ts'

const [path = '', portsText = '16', stepText = '100', secondsText = '40'] = process.argv.slice(2)
const [portCount, stepMs, pastS] = [Number(portsText), Number(stepText), Number(secondsText)]

/** Fields of these types that a port has and that are no counter. */
const FIXED: Readonly<Record<string, number | string | bigint>> = {
  link_layer: 'Ethernet',
  driver: 'mlx5_core',
  state: 4,
  phys_state: 5,
  rate_bytes_per_second: 50_000_000_000n,
  width_lanes: 4,
  saturated_counters: 0,
  saturated: '',
  turn_age_seconds: 0,
  class: 'network',
  current_link_speed_transfers_per_second: 32e9,
  max_link_speed_transfers_per_second: 32e9,
  current_link_width_lanes: 16,
  max_link_width_lanes: 16,
}
/** What a counter gains a second, where it is not a thousand. */
const GAINS: Readonly<Record<string, number>> = {
  xmit_data_bytes_total: 30e9,
  rcv_data_bytes_total: 30e9,
  rx_pause_seconds_total: 0.1,
  tx_pause_seconds_total: 0.1,
  rx_corrected_bits_phy_total: 40_000,
}

const store = await createStore({ path })
let take = (batch: Batch): void => store.accept(batch)
const source = createSource({ id: 'bench', intervalMs: stepMs, emit: (batch) => take(batch) })

/** A value that wanders around 1, the same in every run and another in every series. */
function wander(timeMs: number, port: number, field: number): number {
  return 1 + 0.4 * Math.sin(timeMs / 700 + port * 0.2 + field) * Math.sin(timeMs / 5_300 + field * 7)
}

/** One record of one port: each counter rises by its rate, the other fields stay. */
function rowOf(type: RecordType, port: number, timeMs: number, before: Map<string, number>): Record<string, unknown> {
  const address = `0000:${(16 + port).toString(16)}:00.0`
  const netdev = `eth${10 + port}`
  const device = type === pciDeviceType ? address : type.name.startsWith('rdma') ? `mlx5_${port}` : netdev
  const row: Record<string, unknown> = { time: BigInt(Math.round(timeMs)) * 1_000_000n, device, port: 1, priority: 3 }
  if (type === rdmaPortType) Object.assign(row, { address, netdevs: netdev })
  if (type === pciDeviceType) Object.assign(row, { netdevs: netdev, rdma_devices: `mlx5_${port}` })
  type.layout.slots.forEach(({ name, field }, order) => {
    if (name in row) return
    if (name in FIXED) row[name] = FIXED[name]
    else if (field.role === 'counter') {
      const key = `${type.name} ${name} ${port}`
      const gained = ((GAINS[name] ?? 1_000) * wander(timeMs, port, order) * stepMs) / 1_000
      const total = (before.get(key) ?? 0) + gained
      before.set(key, total)
      row[name] = field.kind === 'u64' ? BigInt(Math.round(total)) : total
    } else if (name.endsWith('_ratio')) row[name] = 0.02 * wander(timeMs, port, order)
    else if (field.kind === 'symbol') row[name] = ''
  })
  for (const name of ['port', 'priority']) if (!type.layout.slots.some((slot) => slot.name === name)) delete row[name]
  return row
}

const totals = new Map<string, number>()
function reportAt(timeMs: number): void {
  for (const type of [
    rdmaPortType,
    rdmaPortCountersType,
    rdmaHwFirstType,
    rdmaHwType,
    ethtoolPortType,
    ethtoolPriorityType,
    pciDeviceType,
  ]) {
    for (let port = 0; port < portCount; port++) source.report(type, rowOf(type, port, timeMs, totals) as never)
  }
  source.flush()
}

const agent = makeAgent(store)
take = (batch) => agent.router.accept(batch)
const nowMs = Math.floor(Date.now() / stepMs) * stepMs
for (let timeMs = nowMs - pastS * 1_000; timeMs <= nowMs; timeMs += stepMs) reportAt(timeMs)
await store.flush()
const timer = setInterval(() => reportAt(Date.now()), stepMs)
await listen(agent, () => clearInterval(timer))
