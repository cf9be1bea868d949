import type { RecordType } from '@sonde/sdk'
import { docaAdpRetxType } from '../../doca-adp-retx/type.ts'
import { docaDiagPciType, docaDiagPortType, docaDiagPriorityType, docaDiagType } from '../../doca-diag/type.ts'
import { docaDpaProcessType, docaDpaThreadType } from '../../doca-dpa/type.ts'
import { docaPccCounterType, docaPccType } from '../../doca-pcc/type.ts'
import { docaPciType } from '../../doca-pci/type.ts'
import { docaPhyLaneType, docaPhyType } from '../../doca-phy/type.ts'
import type { SourceContext } from '../../source.ts'
import type { NicPlace } from '../classes/node-class.ts'
import { type Columns, whole } from './column.ts'
import * as columns from './doca-columns.ts'
import { type RowFacts, Rows } from './rows.ts'

const PORT = 1
const DPA_THREADS = [0, 1, 2, 3]

interface DocaTable {
  readonly rows: Rows
  /** NIC of each row. */
  readonly nics: readonly NicPlace[]
}

/** Records of the DOCA libraries for all NICs; those of the accelerator only where there is one. */
export class DocaRows {
  readonly #tables: readonly DocaTable[]

  constructor(context: SourceContext, nics: readonly NicPlace[]) {
    const table = (
      type: RecordType,
      filled: Columns,
      of: readonly NicPlace[],
      facts: (nic: NicPlace) => RowFacts,
    ): DocaTable => ({ rows: new Rows(context, type, filled, of.map(facts)), nics: of })
    const own = ({ device }: NicPlace): RowFacts => ({ labels: { device } })
    const programmable = nics.filter(({ model }) => model.hasDpa)
    this.#tables = [
      table(docaDiagType, columns.DIAG_COLUMNS, nics, own),
      table(docaDiagPortType, columns.DIAG_PORT_COLUMNS, nics, ({ device }) => ({ labels: { device, port: PORT } })),
      table(docaDiagPriorityType, columns.DIAG_PRIORITY_COLUMNS, nics, ({ device }) => ({
        labels: { device, port: PORT, priority: 3 },
      })),
      table(docaDiagPciType, columns.DIAG_PCI_COLUMNS, nics, own),
      table(docaAdpRetxType, columns.ADP_RETX_COLUMNS, nics, own),
      table(docaPciType, columns.DOCA_PCI_COLUMNS, nics, pciFacts),
      table(docaPhyType, columns.PHY_COLUMNS, nics, phyFacts),
      ...[0, 1, 2, 3].map((lane) =>
        table(
          docaPhyLaneType,
          columns.laneColumns(lane),
          nics.filter(({ model }) => lane < model.lanes),
          ({ device }) => ({ labels: { device, lane } }),
        ),
      ),
      table(docaPccType, {}, programmable, pccFacts),
      ...Object.entries(columns.PCC_COUNTERS).map(([counter, number]) =>
        table(docaPccCounterType, { events_total: whole(number) }, programmable, ({ device }) => ({
          labels: { device, slot: 0, counter },
        })),
      ),
      table(docaDpaProcessType, {}, programmable, ({ device }) => ({
        labels: { device, process: 1 },
        facts: { name: 'pcc', threads: DPA_THREADS.length },
      })),
      ...DPA_THREADS.map((thread) =>
        table(docaDpaThreadType, columns.DPA_THREAD_COLUMNS, programmable, ({ device }) => ({
          labels: { device, process: 1, thread },
          facts: { name: `pcc_${thread}` },
        })),
      ),
    ]
  }

  /** Reports what was read, a part at a time. Unit of `time`: nanoseconds. */
  *sample(time: bigint, vectors: readonly Float64Array[]): Generator<void, void> {
    for (const { rows, nics } of this.#tables) {
      yield
      for (const [row, nic] of nics.entries()) rows.write(row, vectors[nic.index] as Float64Array)
      rows.report(time)
    }
  }
}

function pciFacts({ device, model }: NicPlace): RowFacts {
  return {
    labels: { device },
    facts: {
      node: '0.0.0',
      link_generation_enabled: model.pcieGeneration,
      link_peer_generation_max: model.pcieGeneration,
      link_width_enabled: 16,
      max_payload_bytes: 256,
      max_read_request_bytes: 4096,
      power_limit_watts: 75,
      physical_functions: model.hasDpa ? 2 : 1,
      virtual_functions: 0,
    },
    reasons: { effective_ber: 'the link has no forward error correction below generation 6' },
  }
}

function phyFacts({ device, index, model }: NicPlace): RowFacts {
  const onInfiniBand = 'counted on InfiniBand only'
  return {
    labels: { device },
    facts: {
      vendor: 'NVIDIA',
      part_number: 'MMS4X00-NS400',
      serial: `MT2351FT${(17_300 + index * 11).toString()}`,
      fec: 'standard RS 544/514',
      lanes: model.lanes,
      temperature_high_celsius: 75,
      round_trip_seconds: 260e-9,
    },
    reasons: { symbol_errors_total: onInfiniBand, symbol_ber: onInfiniBand },
  }
}

function pccFacts({ device }: NicPlace): RowFacts {
  return {
    labels: { device, slot: 0 },
    facts: {
      algorithm: 'zero-touch RoCE with round trips',
      algorithm_id: 0xcc01,
      version_major: 1,
      version_minor: 4,
      enabled: 1,
      counters_enabled: 1,
    },
  }
}
