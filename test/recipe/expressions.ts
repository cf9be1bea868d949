/**
 * The expressions of the recipe for Kubernetes as they are written there, by the name of the alert or the title of the
 * panel.
 */
export const RECIPE_EXPRESSIONS = {
  HighRetransmissionRate: 'rate(doca_adp_retx_packets[5m]) > 100',
  PCIBandwidthSaturation: '(rate(doca_pci_rx_bytes[1m]) + rate(doca_pci_tx_bytes[1m])) / (16 * 1e9) > 0.85',
  PCITLPErrors: 'rate(doca_pci_tlp_errors[5m]) > 0',
  HighAvgRTT: 'doca_adp_retx_avg_rtt_ns > 5000',
  DiagLinkErrors: 'rate(doca_diag_link_errors[5m]) > 0',
  'RDMA Retransmission Rate': 'rate(doca_adp_retx_packets[5m])',
  'Average RDMA RTT': 'doca_adp_retx_avg_rtt_ns',
  'PCI Bandwidth Utilization': '(rate(doca_pci_rx_bytes[1m]) + rate(doca_pci_tx_bytes[1m])) / (16e9) * 100',
  'PCI TLP Errors': 'rate(doca_pci_tlp_errors[5m])',
  'Diagnostic Link Errors by Node': 'doca_diag_link_errors',
} as const
