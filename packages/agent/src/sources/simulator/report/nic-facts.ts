import { modelName, vendorName } from '../../pci/names.ts'
import type { NicPlace } from '../classes/node-class.ts'
import { linkLimits, PCI_REASONS } from './pci-facts.ts'
import type { RowFacts } from './rows.ts'

const MELLANOX = '15b3'
const DRIVER = 'mlx5_core'
const RELEASE = '6.8.0-60-generic'
const MTU_BYTES = 4200

/** A port of a NIC, by its interface. */
export interface NicPort {
  readonly nic: NicPlace
  readonly netdev: string
  readonly address: string
  readonly isStandby: boolean
}

const GLOBAL_PAUSE = Object.fromEntries(
  [
    'rx_global_pause_total',
    'tx_global_pause_total',
    'rx_global_pause_seconds_total',
    'tx_global_pause_seconds_total',
    'rx_global_pause_transition_total',
  ].map((field) => [field, 'priorities are paused here, not the port as a whole']),
)

const NO_PAUSE = Object.fromEntries(
  [
    'rx_pause_total',
    'tx_pause_total',
    'rx_pause_seconds_total',
    'tx_pause_seconds_total',
    'rx_pause_transition_total',
  ].map((field) => [field, 'flow control is off for the priority']),
)

const OPTIONAL_COUNTERS = Object.fromEntries(
  ['cc_rx_ce_pkts', 'cc_rx_cnp_pkts', 'cc_tx_cnp_pkts', 'tx_packets', 'tx_bytes', 'rx_packets', 'rx_bytes'].map(
    (name) => [`${name}_total`, 'an optional counter that nobody has turned on'],
  ),
)

/** Identity of an RDMA device and its port. */
export function rdmaFacts({ device, netdev, address, model, index }: NicPlace): RowFacts {
  return {
    labels: { device, port: 1 },
    facts: {
      link_layer: 'Ethernet',
      netdevs: netdev,
      address,
      driver: DRIVER,
      firmware: model.firmware,
      model: model.name,
      board: model.board,
      node_guid: `a088:c203:00${(0x12 + index).toString(16)}:4e${(0x20 + index * 8).toString(16)}`,
      width_lanes: model.lanes,
      signalling: model.signalling,
      saturated: '',
      turn_age_seconds: 0,
    },
  }
}

/** Identity of the hardware counters of a port. */
export function hardwareFacts({ nic }: { readonly nic: NicPlace }): RowFacts {
  return { labels: { device: nic.device, port: 1 }, facts: { lifespan_seconds: 0.01 }, reasons: OPTIONAL_COUNTERS }
}

/** Identity of an interface to its driver. */
export function ethtoolFacts({ nic: { model }, netdev, address }: NicPort): RowFacts {
  const facts = {
    responsive: 1,
    full_duplex: 1,
    autonegotiation: 1,
    lanes: model.lanes,
    port_kind: 'fibre',
    driver: DRIVER,
    driver_version: RELEASE,
    firmware: model.firmware,
    address,
  }
  return { labels: { device: netdev }, facts, reasons: { speed_bytes: 'the link is down' } }
}

/** Identity of a PCI function of a NIC. */
export function pciFacts({ nic, netdev, address, isStandby }: NicPort): RowFacts {
  const { model } = nic
  return {
    labels: { device: address },
    facts: {
      class: model.hasDpa ? 'dpu' : 'network',
      class_code: '0x020000',
      vendor: vendorName(MELLANOX),
      model: modelName(MELLANOX, model.productId),
      vendor_id: MELLANOX,
      product_id: model.productId,
      subsystem_id: `${MELLANOX}:0041`,
      driver: DRIVER,
      path: nic.path.join('/'),
      netdevs: netdev,
      rdma_devices: isStandby ? '' : nic.device,
      physical_function: '',
      ...linkLimits(model.pcieGeneration),
      numa_node: nic.numaNode,
      sriov_numvfs: 0,
    },
    reasons: PCI_REASONS,
  }
}

/** Interfaces of all ports, of bonds, and representors. */
export function interfacesOf(ports: readonly NicPort[]): NicPort[] {
  return ports.flatMap((port) => {
    const { nic, isStandby } = port
    const further = isStandby ? [] : [...(nic.ports.length > 1 ? [nic.netdev] : []), ...nic.representors]
    return [port, ...further.map((netdev) => ({ ...port, netdev }))]
  })
}

/** Identity of an interface to the kernel. */
export function netdevFacts({ netdev }: NicPort): RowFacts {
  return { labels: { device: netdev }, facts: { mtu_bytes: MTU_BYTES } }
}

/** Identity of a port and why it lacks counters. */
export function portFacts({ netdev }: NicPort): RowFacts {
  return { labels: { device: netdev }, reasons: GLOBAL_PAUSE }
}

/** Identity of a priority of a port. */
export function priorityFacts({ netdev }: NicPort, priority: number): RowFacts {
  return { labels: { device: netdev, priority }, reasons: NO_PAUSE }
}
