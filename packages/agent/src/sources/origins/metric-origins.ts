import { label } from '@sonde/sdk'

/** Places that a value may come from, as the label `origin` names them. */
export const ORIGINS = {
  doca_phy: 'adapter, by the library',
  rdma_driver: 'files of the RDMA driver',
  roce_adp_retrans: 'counter of the driver',
  timeouts: 'histogram',
  pci_files: "files of the kernel's PCI devices",
  doca_pci: 'firmware, by the library',
} as const

/** Name of a place that a value may come from. */
export type OriginName = keyof typeof ORIGINS

/** Order of preference, by kind of value. A metric without kinds has the single kind `''`. */
type Preferences = Readonly<Record<string, readonly OriginName[]>>

/**
 * Every metric that several origins can serve, with its origins in order of preference. No other place decides this.
 *
 * Files of the RDMA driver come last for errors of links: their counters have 4 to 16 bits, and stop at their maximum.
 * The adapter counts symbol errors only on InfiniBand.
 */
const PREFERENCES = {
  doca_diag_link_errors: {
    link_downed: ['doca_phy', 'rdma_driver'],
    link_error_recovery: ['doca_phy', 'rdma_driver'],
    symbol_error: ['doca_phy', 'rdma_driver'],
    effective_error: ['doca_phy'],
    port_rcv_errors: ['rdma_driver'],
    local_link_integrity_errors: ['rdma_driver'],
    excessive_buffer_overrun_errors: ['rdma_driver'],
  },
  doca_adp_retx_packets: { '': ['roce_adp_retrans', 'timeouts'] },
  doca_pci_link_bandwidth_bytes_per_second: { '': ['pci_files', 'doca_pci'] },
} as const satisfies Readonly<Record<string, Preferences>>

/** A metric that several origins can serve. */
export type ServedMetric = keyof typeof PREFERENCES

/** Names of all metrics that several origins can serve. */
export const SERVED_METRICS = Object.keys(PREFERENCES) as ServedMetric[]

/** Returns the kinds of values of a metric, such as kinds of errors. */
export function kindsOf(metric: ServedMetric): readonly string[] {
  return Object.keys(PREFERENCES[metric])
}

/** Returns the origins of a kind of value, the preferred first; none for an unknown kind. */
export function originsOf(metric: ServedMetric, kind = ''): readonly OriginName[] {
  return (PREFERENCES[metric] as Preferences)[kind] ?? []
}

/** Declares the label `origin` of a metric. */
export function originLabel(metric: ServedMetric) {
  const all = new Set(kindsOf(metric).flatMap((kind) => originsOf(metric, kind)))
  const words = [...all].map((origin) => `${origin} (${ORIGINS[origin]})`)
  return label(`Origin of the value: ${words.join(' or ')}, never two at once`)
}
