/**
 * Metrics that recipes name but that are not available, with the metrics to use instead. The page docs/doca.md has the
 * whole list of the recipe for Kubernetes.
 */
export const UNOBTAINABLE: Readonly<Record<string, { readonly why: string; readonly instead: readonly string[] }>> = {
  doca_adp_retx_bytes: {
    why: 'no library, driver or kernel file counts retransmitted bytes',
    instead: ['doca_adp_retx_packets'],
  },
  doca_adp_retx_avg_rtt_ns: {
    why: 'no library or driver measures a round trip of RDMA',
    instead: ['doca_adp_retx_timeout_seconds', 'doca_phy_round_trip_seconds'],
  },
  doca_pci_tlp_errors: {
    why: 'the name has two meanings: errors counted by the kernel, and errors counted by the library',
    instead: ['pci_aer_errors_total', 'doca_pci_crc_tlp_errors_total'],
  },
}
