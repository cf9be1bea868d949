import { docaDiagLinkType } from '../../doca-telemetry-phy/type.ts'
import { kindsOf, originsOf } from '../../origins/metric-origins.ts'
import type { NicPlace } from '../classes/node-class.ts'
import type { NicReader } from '../observe/nic-reader.ts'
import type { Counter } from '../observe/nic-reading.ts'
import type { ReportColumn } from './column.ts'
import type { NicTable } from './nic-table.ts'
import { RDMA_PORT_COUNTERS } from './rdma.ts'

const METRIC = 'doca_diag_link_errors'
const PORT_NUMBER = 1

type ErrorColumn = ReportColumn<NicReader, Counter>

/** Counters of the adapter, by kind of error. It does not count symbols on Ethernet. */
const OF_PHY: Readonly<Record<string, ErrorColumn>> = {
  link_downed: 'linkDowns',
  link_error_recovery: ({ live }) => live.events('link_recovery'),
  effective_error: 'effectiveErrors',
}

/** Counters of the driver, by kind of error. */
const OF_DRIVER: Readonly<Record<string, ErrorColumn | undefined>> = {
  symbol_error: RDMA_PORT_COUNTERS.symbol_error_total,
  port_rcv_errors: RDMA_PORT_COUNTERS.rcv_errors_total,
  local_link_integrity_errors: RDMA_PORT_COUNTERS.local_link_integrity_errors_total,
  excessive_buffer_overrun_errors: RDMA_PORT_COUNTERS.excessive_buffer_overrun_errors_total,
}

/** Errors of links, each kind from the first origin that counts it. */
export function linkErrorTables(nics: readonly NicPlace[]): NicTable[] {
  return kindsOf(METRIC).flatMap((kind) => {
    const columns: Readonly<Record<string, ErrorColumn | undefined>> = {
      doca_phy: OF_PHY[kind],
      rdma_driver: OF_DRIVER[kind],
    }
    const origin = originsOf(METRIC, kind).find((name) => columns[name] !== undefined)
    const errors = origin === undefined ? undefined : columns[origin]
    if (origin === undefined || errors === undefined) return []
    const rows = nics.map((nic) => ({
      nic,
      labels: { device: nic.device, port: PORT_NUMBER, type: kind, origin },
    }))
    return [{ type: docaDiagLinkType, columns: { errors }, rows }]
  })
}
