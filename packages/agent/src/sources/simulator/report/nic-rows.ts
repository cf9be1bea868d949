import type { RecordType } from '@sonde/sdk'
import { ethtoolLaneType, ethtoolLinkType, ethtoolPortType, ethtoolPriorityType } from '../../ethtool/type.ts'
import { netdevType } from '../../netdev/type.ts'
import { pciDeviceType } from '../../pci/type.ts'
import { rdmaHwType, rdmaPortType } from '../../rdma/type.ts'
import type { SourceContext } from '../../source.ts'
import type { NicPlace } from '../classes/node-class.ts'
import { NIC } from '../model/quantities.ts'
import { missedDevice } from '../observe/missed.ts'
import { NicReader } from '../observe/nic-reader.ts'
import { ORIGINS } from '../observe/origin.ts'
import { NIC_READ_COUNT } from '../observe/readings.ts'
import type { Simulation } from '../simulation.ts'
import { type Columns, whole } from './column.ts'
import { DocaRows } from './doca-rows.ts'
import * as columns from './nic-columns.ts'
import {
  ethtoolFacts,
  hardwareFacts,
  interfacesOf,
  type NicPort,
  netdevFacts,
  pciFacts,
  portFacts,
  priorityFacts,
  rdmaFacts,
} from './nic-facts.ts'
import { PCI_COLUMNS } from './pci-facts.ts'
import { type RowFacts, Rows } from './rows.ts'

/** Numbers that the standby port of a bond has too; all else goes through the active one. */
const OF_ANY_PORT = new Set([NIC.txManagement, NIC.rxManagement, NIC.bits, NIC.lane0, NIC.lane1, NIC.lane2, NIC.lane3])

/** Which vector of a NIC fills the rows, and whose rows they are. */
interface NicTable {
  readonly rows: Rows
  readonly read: 'live' | 'hardware' | 'netdev' | 'pci'
  /** One entry a row. */
  readonly of: readonly { readonly nic: NicPlace; readonly isStandby?: boolean }[]
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

  /** Reads every NIC and reports it, a part at a time. */
  *sample(time: bigint, t: number): Generator<void, void> {
    const missed = missedDevice(this.#simulation.seed + 1, this.readers.length, t)
    for (const [index, reader] of this.readers.entries()) {
      yield
      reader.read(this.#netdev[index] as Float64Array, t, ORIGINS.netdev)
      reader.read(this.#hardware[index] as Float64Array, t, ORIGINS.hardwareCounters)
      reader.read(this.#live[index] as Float64Array, t, ORIGINS.live)
      this.#ports.setText(index, 'saturated', reader.saturated)
      this.#ports.setText(index, 'signalling', reader.signalling)
    }
    const pci = this.readers.map((reader) => reader.pci.numbers)
    const vectors = { live: this.#live, hardware: this.#hardware, netdev: this.#netdev, pci }
    for (const { rows, read, of } of this.#tables) {
      yield
      // One call of the driver gives all of these, or none.
      const canMiss = rows.type.name.startsWith('ethtool_')
      of.forEach(({ nic, isStandby }, row) => {
        const vector = vectors[read][nic.index] as Float64Array
        rows.write(row, isStandby === true && read !== 'pci' ? this.#withoutTraffic(vector) : vector)
        if (canMiss && nic.index === missed) rows.skip(row)
      })
      rows.report(time)
    }
    yield* this.#doca.sample(time, this.#live)
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
  const all = nics.map((nic) => ({ nic }))
  const lanes = netports.flatMap((port) =>
    Array.from({ length: port.nic.model.lanes }, (_, lane) => ({ ...port, lane })),
  )
  return [
    { rows: ports, read: 'live', of: all },
    table(rdmaHwType, columns.RDMA_HW_COLUMNS, all, hardwareFacts, 'hardware'),
    table(ethtoolLinkType, columns.ETHTOOL_LINK_COLUMNS, netports, ethtoolFacts),
    table(ethtoolPortType, columns.ETHTOOL_PORT_COLUMNS, netports, portFacts),
    ...columns.ETHTOOL_PRIORITY_COLUMNS.map((filled, priority) =>
      table(ethtoolPriorityType, filled, netports, (port) => priorityFacts(port, priority)),
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
    table(pciDeviceType, PCI_COLUMNS, netports, pciFacts, 'pci'),
    table(netdevType, columns.NETDEV_COLUMNS, interfacesOf(netports), netdevFacts, 'netdev'),
  ]
}
