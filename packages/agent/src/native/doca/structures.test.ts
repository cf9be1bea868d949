import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldAt, sizeOf } from '../../../../../test/doubles/doca/structure.ts'
import { DPA_CUMULATIVE, DPA_NAME_BYTES, DPA_PROCESS, DPA_THREAD } from './dpa-layout.ts'
import { MANAGEMENT_INFO, PERF_COUNTERS } from './pci-layout.ts'
import { COUNTER_INFO, MODULE_INFO, MODULE_TEXT_BYTES, OPERATION_INFO } from './phy-layout.ts'

// The layouts that the binding reads, against offsets that a C compiler computed from NVIDIA's headers.

/** Path of each field in its structure, by structure. */
const PATHS = {
  phy_operation_info: {
    layout: OPERATION_INFO,
    paths: {
      protocol: 'active_protocol',
      state: 'state',
      speed: 'link_speed_active',
      width: 'link_width',
      fec: 'fec_mode_active',
    },
  },
  phy_counter_and_ber_info: {
    layout: COUNTER_INFO,
    paths: {
      lanes: 'number_of_lanes',
      linkDowns: 'link_down_counter',
      recoveries: 'link_down_recovery_counter',
      protocol: 'active_protocol',
      symbolErrors: 'symbol_errors.symbol_errors_counter',
      symbolRatio: 'symbol_errors.symbol_ber.ber_coef',
      effectiveErrors: 'effective_errors.effective_errors_counter',
      effectiveRatio: 'effective_errors.effective_ber.ber_coef',
      rawErrors: 'raw_errors.raw_errors_per_lane',
      rawRatios: 'raw_errors.raw_ber_per_lane',
      rawRatio: 'raw_errors.raw_ber.ber_coef',
    },
  },
  phy_module_info: {
    layout: MODULE_INFO,
    paths: {
      lanes: 'number_of_lanes',
      vendor: 'cable_vendor_info.vendor_name',
      partNumber: 'cable_vendor_info.vendor_part_number',
      serial: 'cable_vendor_info.vendor_serial_number',
      hasDiagnostics: 'cable_power_and_temp_info.ddm_supported',
      temperature: 'cable_power_and_temp_info.module_temperature.temperature',
      temperatureHigh: 'cable_power_and_temp_info.module_temperature.temperature_high',
      voltage: 'cable_power_and_temp_info.module_voltage.voltage',
      voltageHigh: 'cable_power_and_temp_info.module_voltage.voltage_high',
      txBias: 'cable_power_and_temp_info.tx_bias_current.tx_bias_current_per_lane',
      txBiasHigh: 'cable_power_and_temp_info.tx_bias_current.tx_bias_current_high',
      rxPower: 'cable_power_and_temp_info.rx_power.rx_power_per_lane',
      rxPowerHigh: 'cable_power_and_temp_info.rx_power.rx_power_high',
      txPower: 'cable_power_and_temp_info.tx_power.tx_power_per_lane',
      txPowerHigh: 'cable_power_and_temp_info.tx_power.tx_power_high',
      snrMedia: 'active_cable_info.snr_media_per_lane',
      rxLos: 'error_counter_info.rx_los',
      roundTrip: 'latency_info.round_trip_latency',
    },
  },
  pci_management_info: {
    layout: MANAGEMENT_INFO,
    paths: {
      widthEnabled: 'link_width_enabled',
      generationEnabled: 'link_speed_enabled',
      width: 'link_width_active',
      generation: 'link_speed_active',
      readRequestBytes: 'max_read_request_size',
      payloadBytes: 'max_payload_size',
      peerGeneration: 'link_peer_max_speed',
      physicalFunctions: 'num_of_pfs',
      virtualFunctions: 'num_of_vfs',
      watts: 'pci_power',
    },
  },
  pci_perf_counters_1: {
    layout: PERF_COUNTERS,
    paths: {
      overflowPackets: 'tx_overflow_buffer_pkt',
      overflowMarked: 'tx_overflow_buffer_marked_pkt',
      rxErrors: 'rx_errors',
      txErrors: 'tx_errors',
      dllpErrors: 'crc_error_dllp',
      tlpErrors: 'crc_error_tlp',
      stalledReads: 'outbound_stalled_reads',
      stalledWrites: 'outbound_stalled_writes',
      stalledReadEvents: 'outbound_stalled_reads_events',
      stalledWriteEvents: 'outbound_stalled_writes_events',
      fecCorrectable: 'fec_correctable_error_counter',
      fecUncorrectable: 'fec_uncorrectable_error_counter',
      recoveries: 'l0_to_recovery',
      effectiveRatio: 'effective_ber_magnitude',
      fberRatio: 'fber_magnitude',
    },
  },
} as const

for (const [structure, { layout, paths }] of Object.entries(PATHS)) {
  test(`the fields of ${structure} lie where the compiler puts them`, () => {
    const computed = Object.fromEntries(
      Object.entries(paths).map(([name, path]) => [name, fieldAt(structure, path).at]),
    )
    assert.deepEqual(layout, computed)
  })
}

test('texts of a module have the size of the header', () => {
  assert.equal(fieldAt('phy_module_info', 'cable_vendor_info.vendor_name').bytes, MODULE_TEXT_BYTES)
})

test('the entries of the lists of an accelerator lie where the compiler puts them', () => {
  const computed = (structure: string, paths: Readonly<Record<string, string>>) => ({
    bytes: sizeOf(structure),
    ...Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, fieldAt(structure, path).at])),
  })
  assert.deepEqual(
    { ...DPA_PROCESS },
    computed('dpa_process_info', { id: 'dpa_process_id', threads: 'num_of_threads', name: 'process_name' }),
  )
  assert.deepEqual(
    { ...DPA_THREAD },
    computed('dpa_thread_info', { process: 'dpa_process_id', id: 'dpa_thread_id', name: 'thread_name' }),
  )
  assert.deepEqual(
    { ...DPA_CUMULATIVE },
    computed('dpa_cumul_info', {
      process: 'dpa_process_id',
      thread: 'dpa_thread_id',
      ticks: 'time',
      cycles: 'cycles',
      instructions: 'instructions',
      executions: 'num_executions',
    }),
  )
  assert.equal(fieldAt('dpa_process_info', 'process_name').bytes, DPA_NAME_BYTES)
})
