import { type Fields, Float } from './structure.ts'

const lanes = (value: number) => Array.from({ length: 4 }, () => new Float(value))
const berPair = (coefficient: number, magnitude: number) => coefficient | (magnitude << 8)

/**
 * Structures of a healthy device: a 400 Gbit/s Ethernet port with an optical module of four lanes, and a PCIe link of
 * generation 5 with 16 lanes.
 */
export const HEALTHY = {
  phy_operation_info: {
    active_protocol: 4,
    state: 3,
    phy_state: 6,
    link_speed_active: 0x10_0000,
    link_width: 4,
    fec_mode_active: 7,
  },
  phy_counter_and_ber_info: {
    number_of_lanes: 4,
    link_down_counter: 1,
    time_since_last_clear: 60_000n,
    active_protocol: 4,
    'effective_errors.effective_ber.ber_coef': 15,
    'effective_errors.effective_ber.ber_magnitude': 255,
    'raw_errors.raw_errors_per_lane': [40n, 41n, 42n, 43n],
    'raw_errors.raw_ber_per_lane': [berPair(2, 9), berPair(3, 9), berPair(4, 9), berPair(5, 9)],
    'raw_errors.raw_ber.ber_coef': 3,
    'raw_errors.raw_ber.ber_magnitude': 9,
  },
  phy_module_info: {
    number_of_lanes: 4,
    active_protocol: 4,
    error_code: 1,
    'cable_vendor_info.vendor_name': 'NVIDIA',
    'cable_vendor_info.vendor_part_number': 'MMS4X00-NS400',
    'cable_vendor_info.vendor_serial_number': 'MT2351FT17300',
    'cable_general_properties_info.cable_type': 2,
    'cable_power_and_temp_info.ddm_supported': 1,
    'cable_power_and_temp_info.module_temperature.temperature': 55,
    'cable_power_and_temp_info.module_temperature.temperature_high': 75,
    'cable_power_and_temp_info.module_voltage.voltage': 3300,
    'cable_power_and_temp_info.module_voltage.voltage_high': 3630,
    'cable_power_and_temp_info.tx_bias_current.tx_bias_current_per_lane': lanes(7.5),
    'cable_power_and_temp_info.tx_bias_current.tx_bias_current_high': new Float(10),
    'cable_power_and_temp_info.rx_power.rx_power_per_lane': lanes(0.25),
    'cable_power_and_temp_info.rx_power.rx_power_high': new Float(5),
    'cable_power_and_temp_info.tx_power.tx_power_per_lane': lanes(1.5),
    'cable_power_and_temp_info.tx_power.tx_power_high': new Float(5),
    'active_cable_info.snr_media_per_lane': lanes(22.5),
    'latency_info.round_trip_latency': new Float(256),
  },
  pci_management_info: {
    link_width_enabled: 16,
    link_speed_enabled: 5,
    link_width_active: 16,
    link_speed_active: 5,
    max_read_request_size: 512,
    max_payload_size: 256,
    pwr_status: 1,
    link_peer_max_speed: 5,
    num_of_pfs: 2,
    num_of_vfs: 8,
    pci_power: 75,
  },
  pci_perf_counters_1: {
    tx_overflow_buffer_pkt: 3n,
    rx_errors: 2,
    outbound_stalled_writes: 12,
    outbound_stalled_writes_events: 4,
    effective_ber_magnitude: 255,
    effective_ber_coef: 15,
    fber_magnitude: 9,
    fber_coef: 4,
  },
} as const satisfies Readonly<Record<string, Fields>>

/** A structure that a scenario gives. */
export type ImageName = keyof typeof HEALTHY

/** Fields of structures. */
export type Images = Readonly<Partial<Record<ImageName, Fields>>>
