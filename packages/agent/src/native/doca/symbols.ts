// The functions that are called, by library, with the types of their parameters as koffi spells them. All answer with a
// `doca_error_t` but for those of RESULTS. A handle is an address; where a function writes, it is given memory.

const handle = 'void *'
const memory = 'void *'
const setter = (type: string) => [handle, type]
const getter = [handle, memory]
const ofSlot = [handle, 'uint8_t', memory]
// `struct doca_telemetry_pci_dpn` of three bytes, by value: both calling conventions pass it in one register.
const place = 'uint32_t'

/** Functions of `libdoca_common`. */
export const COMMON = {
  doca_devinfo_create_list: [memory, memory],
  doca_devinfo_destroy_list: [handle],
  doca_devinfo_get_pci_addr_str: getter,
  doca_devinfo_get_ibdev_name: [handle, memory, 'uint32_t'],
  doca_devinfo_get_iface_name: [handle, memory, 'uint32_t'],
  doca_dev_open: getter,
  doca_dev_close: [handle],
  doca_dev_as_devinfo: [handle],
} as const satisfies Signatures

/** Functions of `libdoca_telemetry`. */
export const TELEMETRY = {
  doca_telemetry_adp_retx_cap_is_supported: [handle],
  doca_telemetry_adp_retx_cap_histogram_is_supported: [handle],
  doca_telemetry_adp_retx_cap_get_hist_max_bins: getter,
  doca_telemetry_adp_retx_cap_get_hist_time_units: getter,
  doca_telemetry_adp_retx_create: getter,
  doca_telemetry_adp_retx_destroy: [handle],
  doca_telemetry_adp_retx_start: [handle],
  doca_telemetry_adp_retx_stop: [handle],
  doca_telemetry_adp_retx_set_hist_num_bins: setter('uint32_t'),
  doca_telemetry_adp_retx_get_hist_num_bins: getter,
  doca_telemetry_adp_retx_set_hist_bin0_width: setter('uint16_t'),
  doca_telemetry_adp_retx_get_hist_bin0_width: getter,
  doca_telemetry_adp_retx_set_hist_bin1_width: setter('uint16_t'),
  doca_telemetry_adp_retx_get_hist_bin1_width: getter,
  doca_telemetry_adp_retx_set_hist_bin_width_mode: setter('uint32_t'),
  doca_telemetry_adp_retx_get_hist_bin_width_mode: getter,
  doca_telemetry_adp_retx_set_hist_time_unit: setter('uint32_t'),
  doca_telemetry_adp_retx_get_hist_time_unit: getter,
  doca_telemetry_adp_retx_unset_hist_vhca_id: [handle],
  doca_telemetry_adp_retx_set_hist_clear_on_read: setter('uint8_t'),
  doca_telemetry_adp_retx_set_hist_count_enable: setter('uint8_t'),
  doca_telemetry_adp_retx_detect_hist_conf_change: getter,
  doca_telemetry_adp_retx_read_hist_bins: [handle, memory, memory],
  doca_telemetry_diag_cap_is_supported: [handle],
  doca_telemetry_diag_cap_get_max_num_data_ids: getter,
  doca_telemetry_diag_cap_get_log_max_num_samples: getter,
  doca_telemetry_diag_cap_is_sample_mode_supported: [handle, 'uint32_t', memory],
  doca_telemetry_diag_cap_is_data_timestamp_source_supported: [handle, 'uint32_t', memory],
  doca_telemetry_diag_create: [handle, 'uint8_t', memory],
  doca_telemetry_diag_destroy: [handle],
  doca_telemetry_diag_apply_config: [handle],
  doca_telemetry_diag_start: [handle],
  doca_telemetry_diag_stop: [handle],
  doca_telemetry_diag_set_output_format: setter('uint32_t'),
  doca_telemetry_diag_set_sample_period: setter('uint64_t'),
  doca_telemetry_diag_get_sample_period: getter,
  doca_telemetry_diag_set_log_max_num_samples: setter('uint8_t'),
  doca_telemetry_diag_set_max_num_data_ids: setter('uint32_t'),
  doca_telemetry_diag_set_sync_mode: setter('uint32_t'),
  doca_telemetry_diag_set_sample_mode: setter('uint32_t'),
  doca_telemetry_diag_set_data_clear: setter('uint8_t'),
  doca_telemetry_diag_set_data_timestamp_source: setter('uint32_t'),
  doca_telemetry_diag_check_data_id: setter('uint64_t'),
  doca_telemetry_diag_apply_counters_list_by_id: [handle, memory, 'uint32_t', memory],
  doca_telemetry_diag_get_sample_size: getter,
  doca_telemetry_diag_query_counters: [handle, memory, 'uint32_t', memory],
  doca_telemetry_phy_cap_is_supported: [handle],
  doca_telemetry_phy_cap_operation_info_is_supported: [handle],
  doca_telemetry_phy_cap_module_info_is_supported: [handle],
  doca_telemetry_phy_cap_counter_and_ber_info_is_supported: [handle],
  doca_telemetry_phy_create: getter,
  doca_telemetry_phy_destroy: [handle],
  doca_telemetry_phy_start: [handle],
  doca_telemetry_phy_stop: [handle],
  doca_telemetry_phy_get_operation_info: getter,
  doca_telemetry_phy_get_module_info: getter,
  doca_telemetry_phy_get_counter_and_ber_info: getter,
  doca_telemetry_pci_cap_management_info_is_supported: [handle],
  doca_telemetry_pci_cap_management_info_power_reporting_is_supported: [handle],
  doca_telemetry_pci_cap_management_info_link_peer_max_speed_is_supported: [handle],
  doca_telemetry_pci_cap_perf_counters_1_is_supported: [handle],
  doca_telemetry_pci_cap_perf_counters_1_tx_overflow_is_supported: [handle],
  doca_telemetry_pci_cap_perf_counters_1_outbound_stalled_is_supported: [handle],
  doca_telemetry_pci_cap_perf_counters_1_fec_error_is_supported: [handle],
  doca_telemetry_pci_cap_perf_counters_1_fber_is_supported: [handle],
  doca_telemetry_pci_cap_latency_histogram_is_supported: [handle],
  doca_telemetry_pci_create: getter,
  doca_telemetry_pci_destroy: [handle],
  doca_telemetry_pci_start: [handle],
  doca_telemetry_pci_stop: [handle],
  doca_telemetry_pci_read_management_info: [handle, place, memory],
  doca_telemetry_pci_read_perf_counters_1: [handle, place, memory],
  doca_telemetry_pci_get_latency_histogram_dimensions: [handle, place, memory, memory],
  doca_telemetry_pci_read_latency_histogram: [handle, place, memory],
  doca_telemetry_pcc_cap_is_supported: [handle],
  doca_telemetry_pcc_cap_get_max_algo_slots: getter,
  doca_telemetry_pcc_cap_get_max_algo_info_len: getter,
  doca_telemetry_pcc_cap_get_max_counter_info_len: getter,
  doca_telemetry_pcc_cap_get_max_num_counters: getter,
  doca_telemetry_pcc_create: getter,
  doca_telemetry_pcc_destroy: [handle],
  doca_telemetry_pcc_start: [handle],
  doca_telemetry_pcc_stop: [handle],
  doca_telemetry_pcc_get_algo_id: ofSlot,
  doca_telemetry_pcc_get_algo_major_version: ofSlot,
  doca_telemetry_pcc_get_algo_minor_version: ofSlot,
  doca_telemetry_pcc_get_algo_enable_status: [handle, 'uint8_t', memory, memory],
  doca_telemetry_pcc_get_algo_info: ofSlot,
  doca_telemetry_pcc_get_num_counters: ofSlot,
  doca_telemetry_pcc_get_counter_info: [handle, 'uint8_t', 'uint8_t', memory],
  doca_telemetry_pcc_get_counters: [handle, 'uint8_t', memory, memory],
  doca_telemetry_dpa_cap_is_supported: [handle],
  doca_telemetry_dpa_get_all_process_id: getter,
  doca_telemetry_dpa_get_all_thread_id: getter,
  doca_telemetry_dpa_create: getter,
  doca_telemetry_dpa_destroy: [handle],
  doca_telemetry_dpa_start: [handle],
  doca_telemetry_dpa_stop: [handle],
  doca_telemetry_dpa_get_dpa_timer_freq: getter,
  doca_telemetry_dpa_get_process_list_size: [handle, 'uint32_t', memory],
  doca_telemetry_dpa_get_thread_list_size: [handle, 'uint32_t', 'uint32_t', memory],
  doca_telemetry_dpa_get_cumul_samples_size: [handle, 'uint32_t', 'uint32_t', memory],
  doca_telemetry_dpa_read_processes_list: [handle, 'uint32_t', memory, memory],
  doca_telemetry_dpa_read_thread_list: [handle, 'uint32_t', 'uint32_t', memory, memory],
  doca_telemetry_dpa_read_cumul_info_list: [handle, 'uint32_t', 'uint32_t', memory, memory],
  doca_telemetry_dpa_get_counter_state: [handle, 'uint32_t', memory],
  doca_telemetry_dpa_counter_start: [handle, 'uint32_t', 'uint32_t'],
  doca_telemetry_dpa_counter_stop: [handle, 'uint32_t', 'uint32_t'],
} as const satisfies Signatures

/** Result types of functions that do not return an error code. */
export const RESULTS: Readonly<Record<string, string>> = { doca_dev_as_devinfo: 'void *' }

/** A symbol that only stand-ins for NVIDIA's libraries have. */
export const DOUBLE_SYMBOL = 'sonde_doca_double'

type Signatures = Readonly<Record<string, readonly string[]>>

/** A function of the libraries. */
export type DocaSymbol = keyof typeof COMMON | keyof typeof TELEMETRY
