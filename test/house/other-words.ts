/** Words that begin as the name of a metric or a type does, and have another meaning. */
export const OTHER_WORDS: readonly string[] = [
  // Labels of Kubernetes and of exporters.
  ...['pod_name', 'pod_namespace', 'app_kubernetes_io_name', 'app_kubernetes_io_part_of'],
  // Types without metrics that are made while Sonde runs.
  ...[
    'sonde_hint',
    'sonde_hint_pause',
    'sonde_incident_note',
    'sonde_interruption',
    'sonde_opaque_64',
    'sonde_opaque_128',
    'sonde_opaque_65536',
    'sonde_simulated_past',
  ],
  // Metrics that exist only after an origin changed, and an origin.
  ...['sonde_origin_changes_total', 'sonde_origin_changed_timestamp_seconds', 'pci_files'],
  // Codes, rules and options.
  ...['host_replaced', 'shared_device', 'pod_limit', 'pod_ended', 'shared_limit', 'app_id', 'shared_key_file'],
  ...['pci_files', 'pod_labels', 'pod_labels_max', 'pod_label_limit'],
  // Names that the dashboard of DeepOps reads; docs/dashboards.md has ours.
  ...['DCGM_FI_DEV_PCIE_TX_THROUGHPUT', 'DCGM_FI_DEV_PCIE_RX_THROUGHPUT'],
  // Names of the recipe that Sonde does not have; docs/doca.md says why.
  ...['doca_adp_retx_bytes', 'doca_adp_retx_avg_rtt_ns', 'doca_pci_tlp_errors'],
  // Functions, types and tools of the DOCA libraries.
  ...['doca_dev_open_by_name', 'doca_telemetry_adp_retx_get_retx_packets', 'doca_telemetry_pci_get_rx_bytes'],
  ...['doca_devinfo_get_capabilities', 'doca_telemetry_utils', 'doca_guid_t', 'doca_telemetry_ipc_status_t'],
  ...['doca_telemetry_', 'doca_telemetry_schema_init'],
  ...['doca_telemetry_exporter_', 'doca_telemetry_exporter_schema_init'],
  // Counters of drivers and libraries, under their own names.
  ...['rdma_tx_packets', 'rdma_tx_bytes', 'rdma_rx_packets', 'rdma_rx_bytes', 'host_rx_buffer_discards'],
  // Flags of the command, and an example of a type.
  ...['doca_general_flags', 'doca_program_flags', 'ethtool_event'],
]
