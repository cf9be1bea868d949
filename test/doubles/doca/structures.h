// The structures that the libraries write, declared once as lists of fields: `layout.c` prints them as the compiler
// lays them out. `S` is a structure, `U` a union, `F` a field with its type, name and elements.

#pragma once
#include <stdint.h>

typedef uint32_t enumeration;

#define LANES [8]
#define TEXT [17]

#define STRUCTURES_DIAG(S, U, F) \
	S(diag_data_sample_format_0_value, F(uint64_t, data_id, ) F(uint32_t, timestamp_h, ) F(uint32_t, timestamp_l, ) \
		F(uint64_t, data_value, )) \
	S(diag_data_sample_format_0, F(uint32_t, sample_id, ) F(uint32_t, reserved, ) \
		F(struct doca_telemetry_diag_data_sample_format_0_value, value, [0])) \
	S(diag_data_sample_format_1, F(uint32_t, sample_id, ) F(uint32_t, earliest_data_timestamp_h, ) \
		F(uint32_t, earliest_data_timestamp_l, ) F(uint32_t, latest_data_timestamp_l, ) F(uint64_t, data_value, [0])) \
	S(diag_data_sample_format_2, F(uint32_t, sample_id, ) F(uint32_t, earliest_data_timestamp_h, ) \
		F(uint32_t, earliest_data_timestamp_l, ) F(uint32_t, latest_data_timestamp_l, ) F(uint32_t, data_value, [0]))

#define STRUCTURES_DPA(S, U, F) \
	S(dpa_process_info, F(uint32_t, dpa_process_id, ) F(uint32_t, num_of_threads, ) F(char, process_name, TEXT)) \
	S(dpa_thread_info, F(uint32_t, dpa_process_id, ) F(uint32_t, dpa_thread_id, ) F(char, thread_name, TEXT)) \
	S(dpa_cumul_info, F(uint32_t, dpa_process_id, ) F(uint32_t, dpa_thread_id, ) F(uint64_t, time, ) \
		F(uint64_t, cycles, ) F(uint64_t, instructions, ) F(uint64_t, num_executions, )) \
	S(dpa_event_sample, F(uint64_t, timestamp, ) F(uint64_t, cycles, ) F(uint32_t, instructions, ) \
		F(uint32_t, dpa_thread_id, ) F(uint16_t, eu_id, ) F(uint16_t, sample_id_in_eu, ) F(enumeration, type, ))

#define STRUCTURES_PCI(S, U, F) \
	S(pci_dpn, F(uint8_t, depth, ) F(uint8_t, pci_index, ) F(uint8_t, node, )) \
	S(pci_management_info, F(enumeration, link_width_enabled, ) F(enumeration, link_speed_enabled, ) \
		F(enumeration, link_width_active, ) F(enumeration, link_speed_active, ) F(enumeration, max_read_request_size, ) \
		F(enumeration, max_payload_size, ) F(enumeration, pwr_status, ) F(enumeration, port_type, ) \
		F(enumeration, lane_reversal, ) F(enumeration, link_peer_max_speed, ) F(uint16_t, num_of_pfs, ) \
		F(uint16_t, num_of_vfs, ) F(uint16_t, bdf0, ) F(uint16_t, pci_power, ) F(uint8_t, lane0_physical_position, ) \
		F(uint8_t, precode_sup, ) F(uint8_t, precode_active, ) F(uint8_t, flit_sup, ) F(uint8_t, flit_active, ) \
		F(uint8_t, correctable_error_detected, ) F(uint8_t, non_fatal_error_detected, ) \
		F(uint8_t, fatal_error_detected, ) F(uint8_t, unsupported_request_detected, ) \
		F(uint8_t, aux_power_detected, ) F(uint8_t, transaction_pending, )) \
	S(pci_perf_counters_1, F(uint64_t, tx_overflow_buffer_pkt, ) F(uint64_t, tx_overflow_buffer_marked_pkt, ) \
		F(uint32_t, rx_errors, ) F(uint32_t, tx_errors, ) F(uint32_t, crc_error_dllp, ) F(uint32_t, crc_error_tlp, ) \
		F(uint32_t, outbound_stalled_reads, ) F(uint32_t, outbound_stalled_writes, ) \
		F(uint32_t, outbound_stalled_reads_events, ) F(uint32_t, outbound_stalled_writes_events, ) \
		F(uint32_t, fec_correctable_error_counter, ) F(uint32_t, fec_uncorrectable_error_counter, ) \
		F(uint32_t, l0_to_recovery, ) F(uint8_t, effective_ber_magnitude, ) F(uint8_t, effective_ber_coef, ) \
		F(uint8_t, fber_magnitude, ) F(uint8_t, fber_coef, ))

#define PHY(name) struct doca_telemetry_phy_##name
#define PHY_UNION(name) union doca_telemetry_phy_##name

#define STRUCTURES_PHY_LINK(S, U, F) \
	U(phy_state, F(enumeration, ib_phy_state, ) F(enumeration, eth_phy_state, )) \
	U(phy_link_speed, F(enumeration, link_speed_eth, ) F(enumeration, link_speed_ib, )) \
	S(phy_operation_info, F(enumeration, active_protocol, ) F(enumeration, state, ) F(PHY_UNION(state), phy_state, ) \
		F(PHY_UNION(link_speed), link_speed_active, ) F(uint8_t, link_width, ) F(enumeration, fec_mode_active, ) \
		F(enumeration, loopback_mode, ) F(enumeration, auto_negotiation, )) \
	S(phy_ber, F(uint8_t, ber_coef, ) F(uint8_t, ber_magnitude, )) \
	S(phy_symbol_error, F(uint64_t, symbol_errors_counter, ) F(PHY(ber), symbol_ber, )) \
	S(phy_effective_error, F(uint64_t, effective_errors_counter, ) F(PHY(ber), effective_ber, )) \
	S(phy_raw_error, F(uint64_t, raw_errors_per_lane, LANES) F(PHY(ber), raw_ber_per_lane, LANES) \
		F(PHY(ber), raw_ber, )) \
	S(phy_counter_and_ber_info, F(uint8_t, number_of_lanes, ) F(uint32_t, link_down_counter, ) \
		F(uint32_t, link_down_recovery_counter, ) F(uint64_t, time_since_last_clear, ) F(enumeration, active_protocol, ) \
		F(PHY(symbol_error), symbol_errors, ) F(PHY(effective_error), effective_errors, ) \
		F(PHY(raw_error), raw_errors, ))

#define STRUCTURES_PHY_CABLE(S, U, F) \
	S(phy_date, F(uint8_t, year, ) F(uint8_t, month, ) F(uint8_t, day, )) \
	S(phy_manufacturing_date, F(PHY(date), date, ) F(char, lot, [2])) \
	S(phy_cable_vendor_info, F(enumeration, cable_vendor, ) F(char, vendor_name, TEXT) \
		F(char, vendor_part_number, TEXT) F(char, vendor_serial_number, TEXT) F(char, vendor_rev_number, TEXT) \
		F(PHY(manufacturing_date), manufacturing_date, )) \
	S(phy_firmware_version, F(uint8_t, chip_id, ) F(uint8_t, major, ) F(uint16_t, minor, )) \
	U(phy_cable_technology, F(enumeration, QSFP_CMIS_cable_technology, ) F(enumeration, SFP_cable_technology, )) \
	U(phy_CMIS_specific, F(enumeration, copper_cc, ) F(enumeration, sm_cc, ) F(enumeration, mm_cc, )) \
	S(phy_CMIS, F(enumeration, common_cc, ) F(PHY_UNION(CMIS_specific), specific_cc, )) \
	U(phy_QSFP_SFP_specific, F(uint8_t, qsfp_cc, ) F(uint8_t, sfp_cc, )) \
	S(phy_QSFP_SFP, F(enumeration, common_cc, ) F(PHY_UNION(QSFP_SFP_specific), specific_cc, )) \
	U(phy_compliance_code, F(PHY(CMIS), cmis_cc, ) F(PHY(QSFP_SFP), qsfp_sfp_cc, )) \
	S(phy_QSFP_cable_breakout, F(enumeration, far_end, ) F(enumeration, near_end, )) \
	U(phy_cable_breakout, F(enumeration, cmis_cable_breakout, ) F(PHY(QSFP_cable_breakout), qsfp_cable_breakout, )) \
	S(phy_cable_general_properties_info, F(uint8_t, memory_map_rev, ) F(uint8_t, ib_cable_width, ) \
		F(uint8_t, linear_direct_drive, ) F(PHY(firmware_version), firmware_version, ) \
		F(PHY_UNION(cable_technology), cable_technology, ) F(enumeration, cable_identifier, ) \
		F(enumeration, cable_type, ) F(float, transfer_distance, ) F(PHY_UNION(compliance_code), compliance_code, ) \
		F(PHY_UNION(cable_breakout), cable_breakout, ) F(uint32_t, smf_length, ) \
		F(enumeration, active_set_host_compliance_code, ) \
		F(PHY_UNION(CMIS_specific), active_set_media_compliance_code, ))

#define STRUCTURES_PHY_MODULE(S, U, F) \
	S(phy_temperature, F(int16_t, temperature, ) F(int16_t, temperature_low, ) F(int16_t, temperature_high, )) \
	S(phy_voltage, F(uint16_t, voltage, ) F(uint16_t, voltage_low, ) F(uint16_t, voltage_high, )) \
	S(phy_tx_bias_current, F(float, tx_bias_current_per_lane, LANES) F(float, tx_bias_current_low, ) \
		F(float, tx_bias_current_high, )) \
	S(phy_rx_power, F(float, rx_power_per_lane, LANES) F(float, rx_power_low, ) F(float, rx_power_high, )) \
	S(phy_tx_power, F(float, tx_power_per_lane, LANES) F(float, tx_power_low, ) F(float, tx_power_high, )) \
	U(phy_power_class, F(enumeration, sfp_qsfp, ) F(enumeration, sfpdd, ) F(enumeration, qsfpdd_osfp, )) \
	S(phy_cable_power_and_temp_info, F(uint8_t, ddm_supported, ) F(PHY(temperature), module_temperature, ) \
		F(PHY(voltage), module_voltage, ) F(enumeration, rx_power_type, ) F(float, max_power, ) \
		F(PHY(tx_bias_current), tx_bias_current, ) F(PHY(rx_power), rx_power, ) F(PHY(tx_power), tx_power, ) \
		F(PHY_UNION(power_class), power_class, )) \
	S(phy_cable_attenuation, F(uint8_t, ca_5g, ) F(uint8_t, ca_7g, ) F(uint8_t, ca_12g, ) F(uint8_t, ca_25g, ) \
		F(uint8_t, ca_53g, )) \
	S(phy_active_cable_info, F(uint8_t, cable_rx_amp, ) F(uint8_t, cable_rx_emphasis, ) \
		F(uint8_t, cable_rx_post_emphasis, ) F(uint8_t, cable_tx_equalization, ) F(uint16_t, wavelength, ) \
		F(float, wavelength_tolerance, ) F(PHY(cable_attenuation), cable_attenuation, ) \
		F(float, snr_media_per_lane, LANES) F(float, snr_host_per_lane, LANES)) \
	S(phy_error_counter_info, F(uint8_t, tx_fault, ) F(uint8_t, tx_los, ) F(uint8_t, tx_cdr_lol, ) \
		F(uint8_t, rx_los, ) F(uint8_t, rx_cdr_lol, ) F(uint8_t, tx_ad_eq_fault, )) \
	S(phy_module_state, F(uint8_t, is_cpo, ) F(union { enumeration cmis_state; enumeration cpo_state; }, state, )) \
	S(phy_cdr_info, F(enumeration, rx_cdr_cap, ) F(enumeration, tx_cdr_cap, ) F(uint8_t, rx_cdr_state, ) \
		F(uint8_t, tx_cdr_state, )) \
	S(phy_status_info, F(PHY(cdr_info), cdr_info, ) F(PHY(module_state), module_state, ) \
		F(enumeration, dp_st_per_lane, LANES) F(uint8_t, rx_output_valid, ) F(uint8_t, module_fw_fault, ) \
		F(uint8_t, datapath_fw_fault, )) \
	S(phy_latency_info, F(uint16_t, intra_asic_latency, ) F(uint16_t, module_datapath_latency, ) \
		F(float, round_trip_latency, )) \
	S(phy_module_info, F(uint8_t, number_of_lanes, ) F(float, nominal_bit_rate, ) F(enumeration, active_protocol, ) \
		F(enumeration, error_code, ) F(PHY(cable_vendor_info), cable_vendor_info, ) \
		F(PHY(cable_general_properties_info), cable_general_properties_info, ) \
		F(PHY(cable_power_and_temp_info), cable_power_and_temp_info, ) \
		F(PHY(active_cable_info), active_cable_info, ) F(PHY(error_counter_info), error_counter_info, ) \
		F(PHY(status_info), status_info, ) F(PHY(latency_info), latency_info, ))

#define STRUCTURES(S, U, F) \
	STRUCTURES_DIAG(S, U, F) STRUCTURES_DPA(S, U, F) STRUCTURES_PCI(S, U, F) STRUCTURES_PHY_LINK(S, U, F) \
	STRUCTURES_PHY_CABLE(S, U, F) STRUCTURES_PHY_MODULE(S, U, F)

#define DECLARE_STRUCT(name, fields) struct doca_telemetry_##name { fields };
#define DECLARE_UNION(name, fields) union doca_telemetry_##name { fields };
#define DECLARE_FIELD(type, name, elements) type name elements;
STRUCTURES(DECLARE_STRUCT, DECLARE_UNION, DECLARE_FIELD)
