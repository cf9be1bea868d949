import type { SourceContext } from '../../source.ts'
import { NIC_QUANTITIES } from '../model/quantities.ts'
import { missedDevice } from '../observe/missed.ts'
import { NicReader } from '../observe/nic-reader.ts'
import { COUNTERS } from '../observe/nic-reading.ts'
import type { Simulation } from '../simulation.ts'
import { dcbTable } from './dcb.ts'
import { DPA_TYPES, docaDpaTables, docaTables } from './doca.ts'
import { docaDiagTables } from './doca-diag.ts'
import { docaPhyTables } from './doca-phy.ts'
import { ethtoolTables } from './ethtool.ts'
import { linkErrorTables } from './link-errors.ts'
import { netdevTables } from './netdev.ts'
import type { NicTable } from './nic-table.ts'
import { pciTable } from './pci.ts'
import { rdmaTables } from './rdma.ts'
import { ReportRows } from './report-rows.ts'

/** Numbers that the standby port of a bond also counts; all other traffic uses the active port. */
const OF_ANY_PORT = new Set([
  NIC_QUANTITIES.txManagement,
  NIC_QUANTITIES.rxManagement,
  NIC_QUANTITIES.bits,
  NIC_QUANTITIES.lane0,
  NIC_QUANTITIES.lane1,
  NIC_QUANTITIES.lane2,
  NIC_QUANTITIES.lane3,
])
const NO_DPA = 'the simulated NIC has no data-path accelerator'
const OF_ACTIVE_PORT = Object.values(NIC_QUANTITIES).filter((number) => !OF_ANY_PORT.has(number))

/** Records of all NICs. */
export class NicRows {
  readonly readers: readonly NicReader[]
  readonly #simulation: Simulation
  readonly #tables: readonly (NicTable & { readonly records: ReportRows<NicReader> })[]
  readonly #standby = new Float64Array(Object.keys(COUNTERS).length)

  constructor(simulation: Simulation, context: SourceContext) {
    const { nics } = simulation.node
    const tables = [
      ...rdmaTables(nics),
      ...ethtoolTables(nics),
      dcbTable(nics),
      pciTable(nics),
      ...netdevTables(nics),
      ...docaDiagTables(nics),
      ...docaTables(nics),
      ...docaPhyTables(nics),
      ...linkErrorTables(nics),
      ...docaDpaTables(nics),
    ]
    this.#simulation = simulation
    this.readers = nics.map((nic) => new NicReader(simulation, nic))
    this.#tables = tables.map((table) => {
      return { ...table, records: new ReportRows(context, table.type, table.columns, table.rows, COUNTERS) }
    })
    for (const { device } of nics.filter(({ model }) => !model.hasDpa))
      for (const type of DPA_TYPES) context.absences.set(type, { rdma_device: device }, '', 'unsupported', NO_DPA)
  }

  /** Reads and reports every NIC, in parts. */
  *sample(time: bigint, t: number): Generator<void, void> {
    const missed = missedDevice(this.#simulation.seed + 1, this.readers.length, t)
    for (const reader of this.readers) {
      yield
      reader.read(t)
    }
    for (const { type, rows, records, texts = {}, origin = 'live' } of this.#tables) {
      yield
      // One call of the driver returns all of these values or none.
      const canMiss = type.name.startsWith('ethtool_')
      for (const [field, textOf] of Object.entries(texts)) {
        for (const [index, { nic }] of rows.entries())
          records.setText(index, field, textOf(this.readers[nic.index] as NicReader))
      }
      for (const [index, { nic, isStandby }] of rows.entries()) {
        const reader = this.readers[nic.index] as NicReader
        const { counters } = reader[origin]
        records.write(index, reader, isStandby === true ? this.#withoutTraffic(counters) : counters)
        if (canMiss && nic.index === missed) records.skip(index)
      }
      records.report(time)
    }
  }

  #withoutTraffic(counters: Float64Array): Float64Array {
    const standby = this.#standby
    standby.set(counters)
    for (const number of OF_ACTIVE_PORT) standby[number] = 0
    return standby
  }
}
