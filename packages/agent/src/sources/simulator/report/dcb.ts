import { dcbPortType } from '../../dcb/type.ts'
import type { NicPlace } from '../classes/node-class.ts'
import { type NicTable, portsOf } from './nic-table.ts'

/** RDMA has DSCP 26 and priority 3, its congestion notifications have DSCP 48 and priority 6: as mlx5 lists them. */
const FACTS = {
  pfc_mask: 0b1000,
  trust: 'dscp',
  dscp_priorities: '0-25:0 26:3 27-47:0 48:6 49-63:0',
}
const NO_DEFAULT = { default_priority: 'no default priority is set' }

/** Records of the quality of service of ports. */
export function dcbTable(nics: readonly NicPlace[]): NicTable {
  const rows = portsOf(nics).map((port) => ({
    ...port,
    labels: { device: port.netdev },
    facts: FACTS,
    reasons: NO_DEFAULT,
  }))
  return { type: dcbPortType, columns: {}, rows }
}
