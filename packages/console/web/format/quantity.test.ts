import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quantityOf, unitWords } from './quantity.ts'

const quantity = (metric: string, unit: string, fn: 'rate' | 'last' | 'increase'): string => {
  const { base, factor, prefixes } = quantityOf({ metric, unit, role: 'counter', function: fn })
  return `${base} ×${factor} ${prefixes}`
}

test('bytes a second of a network are bits, those of anything else are bytes', () => {
  assert.equal(quantity('netdev_rx_bytes_total', 'bytes', 'rate'), 'b/s ×8 si')
  assert.equal(quantity('disk_read_bytes_total', 'bytes', 'rate'), 'B/s ×1 si')
  assert.equal(quantity('netdev_speed_bytes_per_second', 'bytes_per_second', 'last'), 'b/s ×8 si')
  assert.equal(quantity('netdev_mtu_bytes', 'bytes', 'last'), 'B ×1 iec')
})

test('seconds a second are a share of time', () => {
  assert.equal(quantity('host_cpu_seconds_total', 'seconds', 'rate'), '% ×100 none')
  assert.equal(quantity('host_cpu_seconds_total', 'seconds', 'increase'), 's ×1 time')
  assert.equal(quantity('DCGM_FI_DEV_THERMAL_VIOLATION', 'nanoseconds', 'increase'), 's ×1e-9 time')
})

test('a unit that is not known is written as words', () => {
  assert.equal(
    quantityOf({ metric: 'belt_speed', unit: 'meters_per_second', role: 'gauge', function: 'last' }).base,
    'meters per second',
  )
})

test('what is only counted has no unit of its own', () => {
  assert.equal(quantity('netdev_rx_packets_total', '', 'rate'), '/s ×1 si')
  assert.equal(quantity('gpu_swaps_total', 'pages', 'rate'), ' pages/s ×1 si')
  assert.equal(quantity('gpu_power', 'watts', 'last'), 'W ×1 si')
  assert.equal(quantity('gpu_busy', 'ratio', 'last'), '% ×100 none')
})

test('the speed of a network is in bits per second, that of PCIe in bytes', () => {
  assert.equal(quantity('rdma_port_rate_bytes_per_second', 'bytes_per_second', 'last'), 'b/s ×8 si')
  assert.equal(quantity('pci_device_max_link_bandwidth_bytes_per_second', 'bytes_per_second', 'last'), 'B/s ×1 si')
  assert.equal(quantity('doca_pci_rx_bytes', 'bytes', 'rate'), 'B/s ×1 si')
  assert.equal(quantity('DCGM_FI_PROF_PCIE_TX_BYTES', 'bytes_per_second', 'last'), 'B/s ×1 si')
})

test('units of GPU libraries are turned into those that people read', () => {
  assert.equal(quantity('DCGM_FI_DEV_FB_USED', 'MiB', 'last'), 'B ×1048576 iec')
  assert.equal(quantity('DCGM_FI_DEV_THERMAL_VIOLATION', 'nanoseconds', 'rate'), '% ×1e-7 none')
  assert.equal(quantity('DCGM_FI_DEV_GPU_UTIL', 'percent', 'last'), '% ×1 none')
  assert.equal(quantity('DCGM_FI_DEV_SM_CLOCK', 'MHz', 'last'), 'MHz ×1 none')
})

test('what links and modules measure has the unit that their makers write', () => {
  assert.equal(quantity('doca_phy_raw_bit_error_ratio', 'ratio', 'last'), ' ×1 powers')
  assert.equal(quantity('doca_phy_lane_tx_bias_amperes', 'amperes', 'last'), 'mA ×1000 none')
  assert.equal(quantity('DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION', 'millijoules', 'increase'), 'J ×0.001 si')
})

test('the unit of a value as it is read is the one that its type declares; a count has none', () => {
  assert.equal(unitWords({ role: 'gauge', unit: '' }), '')
  assert.equal(unitWords({ role: 'gauge', unit: 'transfers_per_second' }), 'transfers/s')
  assert.equal(unitWords({ role: 'gauge', unit: 'bytes_per_second' }), 'bytes/s')
  assert.equal(unitWords({ role: 'gauge', unit: 'bytes' }), 'bytes')
  assert.equal(unitWords({ role: 'bucket', unit: 'seconds' }), '')
})
