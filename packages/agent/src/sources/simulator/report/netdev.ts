import { netdevCarrierType, netdevType } from '../../netdev/type.ts'
import type { NicPlace } from '../classes/node-class.ts'
import { COUNTERS as N } from '../observe/nic-reading.ts'
import { zeros } from './column.ts'
import { type NicColumns, type NicPort, type NicTable, portsOf } from './nic-table.ts'
import { PRIORITY_BYTES } from './packets.ts'

const MTU_BYTES = 4200

/** Traffic of the kernel's own network stack, without RDMA. */
const NETDEV: NicColumns<typeof netdevType> = {
  ...zeros(
    'rx_errors',
    'rx_dropped',
    'rx_fifo_errors',
    'rx_compressed_packets',
    'rx_frame_errors',
    'rx_multicast_packets',
  ),
  ...zeros('tx_errors', 'tx_dropped', 'tx_fifo_errors', 'tx_compressed_packets', 'tx_collisions', 'tx_carrier_errors'),
  rx_bytes_total: PRIORITY_BYTES[0].rx,
  rx_packets_total: 'rxManagement',
  tx_bytes_total: { txManagement: PRIORITY_BYTES[0].tx.txManagement },
  tx_packets_total: 'txManagement',
  up: ({ netdev }) => (netdev.isUp ? 1 : 0),
  carrier: ({ netdev }) => (netdev.isUp ? 1 : 0),
  speed_bytes_per_second: ({ netdev }) => netdev.speedBytesPerS,
}

const NETDEV_CARRIER: NicColumns<typeof netdevCarrierType> = {
  // One change when the driver was loaded, and one when the link came up.
  carrier_changes_total: (_nic, counters) => 2 + (counters[N.carrierChanges] as number),
}

/** Records of interfaces: those of ports, of bonds, and representors. */
export function netdevTables(nics: readonly NicPlace[]): NicTable[] {
  const carrierRows = portsOf(nics)
    .flatMap(interfacesOf)
    .map((port) => ({ ...port, labels: { device: port.netdev }, facts: {} }))
  const rows = carrierRows.map((row) => ({ ...row, facts: { mtu_bytes: MTU_BYTES } }))
  return [
    { type: netdevType, columns: NETDEV, origin: 'netdev', rows },
    { type: netdevCarrierType, columns: NETDEV_CARRIER, origin: 'netdev', rows: carrierRows },
  ]
}

function interfacesOf(port: NicPort): NicPort[] {
  const { nic, isStandby } = port
  const further = isStandby ? [] : [...(nic.ports.length > 1 ? [nic.netdev] : []), ...nic.representors]
  return [port, ...further.map((netdev) => ({ ...port, netdev }))]
}
