// All dashboards, in the order of docs/dashboards.md.

import type { DashboardDescription } from './description.ts'
import { GPU, GPU_APP, GPU_CLUSTER } from './gpu-dashboards.ts'
import { DOCA, NODES, SELF } from './host-dashboards.ts'
import { FABRIC, INTERFACE, NIC } from './network-dashboards.ts'

export const DASHBOARDS: readonly DashboardDescription[] = [
  ...[NODES, FABRIC, GPU_CLUSTER, GPU_APP, GPU, NIC, INTERFACE, DOCA, SELF],
]
