import assert from 'node:assert/strict'
import { test } from 'node:test'
import { namesIn, statisticTarget } from './parse.ts'

const MLX5 = { isMlx5: true }

test('durations and shares of mlx5 know what they are divided by', () => {
  assert.deepEqual(statisticTarget('rx_prio7_pause_duration', MLX5), {
    series: 'priority',
    index: 7,
    field: 'rx_pause_seconds_total',
    divisor: 1e6,
  })
  assert.deepEqual(statisticTarget('outbound_pci_stalled_rd', MLX5), {
    series: 'port',
    field: 'outbound_pci_stalled_rd_ratio',
    divisor: 100,
  })
  assert.deepEqual(statisticTarget('outbound_pci_stalled_rd_events', MLX5), {
    series: 'port',
    field: 'outbound_pci_stalled_rd_seconds_total',
    divisor: 1,
  })
  assert.deepEqual(statisticTarget('rx_err_lane_0_phy', MLX5), {
    series: 'lane',
    index: 0,
    field: 'rx_err_phy_total',
    divisor: 1,
  })
})

test('what only looks like a priority or a lane is a statistic of its own', () => {
  for (const name of [
    'rx_prio_bytes',
    'rx_prio3_unheard_of',
    'rx_prio123_bytes',
    'tx_err_lane_0_phy',
    'rx_lane_0_phy',
  ]) {
    assert.deepEqual(statisticTarget(name, MLX5), { series: 'driver' }, name)
  }
})

test('the statistics of queues are recognised in the ways of many drivers, and no others', () => {
  const queues = [
    'rx0_packets',
    'tx12_xdp_xmit',
    'ch3_events',
    'ptp_tx0_cqes',
    'ptp_cq0_abort',
    'rx_queue_0_drops',
    'tx_queue_11_packets',
    'queue_0_tx_cnt',
    'rx-3.packets',
    'tx-0.bytes',
    '[0]: rx_ucast_packets',
    'rx_posted_desc[7]',
    'rvec_0_rx_pkts',
  ]
  const others = [
    'rx_64_bytes_phy',
    'rx_65_to_127_bytes_phy',
    'tx_queue_stopped',
    'rx_vport_unicast_bytes',
    'port.rx_bytes',
    'tx_timeout',
    'peer_ifindex',
    'rx_xdp_drops',
    'fdir_match',
  ]
  for (const name of queues) assert.equal(statisticTarget(name, { isMlx5: false }).series, 'queue', name)
  for (const name of others) assert.equal(statisticTarget(name, { isMlx5: false }).series, 'driver', name)
})

test('names end at their NUL or after 32 bytes, and keep bytes apart that are no text', () => {
  const set = Buffer.alloc(96)
  set.write('short\0rest', 0)
  set.write('x'.repeat(40), 32, 32)
  set.write('a\xff\n ', 64, 'latin1')
  assert.deepEqual(namesIn(set, 32), ['short', 'x'.repeat(32), 'a\\xff'])
})
