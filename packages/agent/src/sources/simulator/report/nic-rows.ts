import type { RecordType } from '@sonde/sdk'
import { ethtoolLaneType, ethtoolLinkType, ethtoolPortType, ethtoolPriorityType } from '../../ethtool/type.ts'
import { netdevType } from '../../netdev/type.ts'
import { modelName, vendorName } from '../../pci/names.ts'
import { pciDeviceType } from '../../pci/type.ts'
import { rdmaHwType, rdmaPortType } from '../../rdma/type.ts'
import type { SourceContext } from '../../source.ts'
import type { NicPlace } from '../classes/node-class.ts'
import { NIC, NIC_READ_COUNT } from '../model/quantities.ts'
import { missedDevice } from '../observe/missed.ts'
import { NicReader } from '../observe/nic-reader.ts'
import { ORIGINS } from '../observe/origin.ts'
import type { Simulation } from '../simulation.ts'
import { type Columns, whole } from './column.ts'
import { DocaRows } from './doca-rows.ts'
import { linkLimits, PCI_REASONS } from './gpu-rows.ts'
import * as columns from './nic-columns.ts'
import { type RowFacts, Rows } from './rows.ts'

const MELLANOX = '15b3'
const DRIVER = 'mlx5_core'
const RELEASE = '6.8.0-60-generic'
const MTU_BYTES = 4200

/** Numbers that the standby port of a bond has too; all else goes through the active one. */
const OF_ANY_PORT = new Set([NIC.txManagement, NIC.rxManagement, NIC.bits, NIC.lane0, NIC.lane1, NIC.lane2, NIC.lane3])

/** A port of a NIC, by its interface. */
interface NicPort {
  readonly nic: NicPlace
  readonly netdev: string
  readonly address: string
  readonly isStandby: boolean
}

/** Which vector of a NIC fills the rows, and whose rows they are. */
interface NicTable {
  readonly rows: Rows
  readonly read: 'live' | 'hardware' | 'netdev'
  /** One entry a row. */
  readonly of: readonly { readonly nic: NicPlace; readonly isStandby?: boolean }[]
  readonly isMissable?: true
}

/** Records of all NICs. */
export class NicRows {
  readonly readers: readonly NicReader[]
  readonly #simulation: Simulation
  readonly #live: readonly Float64Array[]
  readonly #hardware: readonly Float64Array[]
  readonly #netdev: readonly Float64Array[]
  readonly #standby = new Float64Array(NIC_READ_COUNT)
  readonly #ports: Rows
  readonly #tables: readonly NicTable[]
  readonly #doca: DocaRows

  constructor(simulation: Simulation, context: SourceContext) {
    const { nics } = simulation.node
    const vectors = () => nics.map(() => new Float64Array(NIC_READ_COUNT))
    this.#simulation = simulation
    this.#live = vectors()
    this.#hardware = vectors()
    this.#netdev = vectors()
    this.readers = nics.map((nic) => new NicReader(simulation, nic))
    this.#ports = new Rows(context, rdmaPortType, columns.RDMA_PORT_COLUMNS, nics.map(rdmaFacts))
    this.#tables = tablesOf(context, nics, this.#ports)
    this.#doca = new DocaRows(context, nics)
  }

  /** Reads every NIC and reports it. */
  sample(time: bigint, t: number): void {
    const missed = missedDevice(this.#simulation.seed + 1, this.readers.length, t)
    this.readers.forEach((reader, index) => {
      reader.read(this.#netdev[index] as Float64Array, t, ORIGINS.netdev)
      reader.read(this.#hardware[index] as Float64Array, t, ORIGINS.hardwareCounters)
      reader.read(this.#live[index] as Float64Array, t, ORIGINS.live)
      this.#ports.setText(index, 'saturated', reader.saturated)
    })
    const vectors = { live: this.#live, hardware: this.#hardware, netdev: this.#netdev }
    for (const { rows, read, of, isMissable } of this.#tables) {
      of.forEach(({ nic, isStandby }, row) => {
        const vector = vectors[read][nic.index] as Float64Array
        rows.write(row, isStandby === true ? this.#withoutTraffic(vector) : vector)
        if (isMissable && nic.index === missed) rows.skip(row)
      })
      rows.report(time)
    }
    this.#doca.sample(time, this.#live)
  }

  #withoutTraffic(vector: Float64Array): Float64Array {
    const standby = this.#standby
    standby.set(vector)
    for (const number of Object.values(NIC)) if (!OF_ANY_PORT.has(number)) standby[number] = 0
    return standby
  }
}

function tablesOf(context: SourceContext, nics: readonly NicPlace[], ports: Rows): NicTable[] {
  const netports = nics.flatMap((nic) =>
    nic.ports.map((port, index): NicPort => ({ nic, ...port, isStandby: index > 0 })),
  )
  const table = <P extends { readonly nic: NicPlace }>(
    type: RecordType,
    filled: Columns,
    of: readonly P[],
    facts: (one: P) => RowFacts,
    read: NicTable['read'] = 'live',
  ): NicTable => ({ rows: new Rows(context, type, filled, of.map(facts)), read, of })
  const device = ({ netdev }: NicPort) => ({ labels: { device: netdev } })
  const all = nics.map((nic) => ({ nic }))
  const lanes = netports.flatMap((port) =>
    Array.from({ length: port.nic.model.lanes }, (_, lane) => ({ ...port, lane })),
  )
  const missable = (one: NicTable): NicTable => ({ ...one, isMissable: true })
  return [
    { rows: ports, read: 'live', of: all },
    table(rdmaHwType, columns.RDMA_HW_COLUMNS, all, hardwareFacts, 'hardware'),
    missable(table(ethtoolLinkType, columns.ETHTOOL_LINK_COLUMNS, netports, ethtoolFacts)),
    missable(
      table(ethtoolPortType, columns.ETHTOOL_PORT_COLUMNS, netports, (port) => ({
        ...device(port),
        reasons: GLOBAL_PAUSE,
      })),
    ),
    ...([0, 3] as const).map((priority) =>
      table(ethtoolPriorityType, columns.ETHTOOL_PRIORITY_COLUMNS[priority], netports, ({ netdev }) => ({
        labels: { device: netdev, priority },
        reasons: NO_PAUSE,
      })),
    ),
    ...[0, 1, 2, 3].map((lane) =>
      table(
        ethtoolLaneType,
        { rx_err_phy_total: whole(NIC.lane0 + lane) },
        lanes.filter((one) => one.lane === lane),
        ({ netdev }) => ({
          labels: { device: netdev, lane },
        }),
      ),
    ),
    table(pciDeviceType, columns.NIC_PCI_COLUMNS, netports, pciFacts),
    table(netdevType, columns.NETDEV_COLUMNS, interfacesOf(netports), netdevFacts, 'netdev'),
  ]
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
  [
    'cc_rx_ce_pkts',
    'cc_rx_cnp_pkts',
    'cc_tx_cnp_pkts',
    'rdma_tx_packets',
    'rdma_tx_bytes',
    'rdma_rx_packets',
    'rdma_rx_bytes',
  ].map((name) => [`${name}_total`, 'an optional counter that nobody has turned on']),
)

function rdmaFacts({ device, netdev, address, model, index }: NicPlace): RowFacts {
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

function hardwareFacts({ nic }: { readonly nic: NicPlace }): RowFacts {
  return { labels: { device: nic.device, port: 1 }, facts: { lifespan_seconds: 0.01 }, reasons: OPTIONAL_COUNTERS }
}

function ethtoolFacts({ nic: { model }, netdev, address }: NicPort): RowFacts {
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

function pciFacts({ nic, netdev, address, isStandby }: NicPort): RowFacts {
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
function interfacesOf(ports: readonly NicPort[]): NicPort[] {
  return ports.flatMap((port) => {
    const { nic, isStandby } = port
    const further = isStandby ? [] : [...(nic.ports.length > 1 ? [nic.netdev] : []), ...nic.representors]
    return [port, ...further.map((netdev) => ({ ...port, netdev }))]
  })
}

function netdevFacts({ netdev }: NicPort): RowFacts {
  return { labels: { device: netdev }, facts: { mtu_bytes: MTU_BYTES } }
}
