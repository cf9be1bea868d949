import { hostCpuPackageType, hostMemoryControllerType } from '../../sources/host/type.ts'
import { nvmlDoubtType } from '../../sources/nvml/type.ts'
import { splitGpu, tellXid } from '../test-training-node.ts'
import {
  type Change,
  downtrained,
  everyGpu,
  everyRail,
  holdWithNic,
  linkDown,
  linkUp,
  noTraffic,
  pcieErrors,
  priorities,
  silenceDriver,
  spinning,
} from './test-changes.ts'

/** The fault that a rule detects. */
export interface HintFault extends Change {
  /** The hint that opens within 3 s, and no other. */
  readonly opens: string
  readonly severity: string
  /** How long until it stands. Unit: seconds. */
  readonly standsAfterS: number
}

/** The effect of each rule. */
export const FAULTS: readonly HintFault[] = [
  {
    title: 'packets that are lost on one rail',
    begin: (node) => node.nic(3).rate({ packet_seq_err_total: 2400 }),
    opens: 'retransmission_storm/nic-mlx5_3-1',
    severity: 'critical',
    standsAfterS: 3,
  },
  {
    title: 'a NIC that tells others to pause',
    begin: (node) => node.nic(2).rate({ tx_pause_seconds_total: 0.6 }),
    opens: 'pfc_source/nic-mlx5_2-1',
    severity: 'critical',
    standsAfterS: 5,
  },
  {
    title: 'a NIC that its peers pause',
    begin: (node) => node.nic(4).rate({ rx_pause_seconds_total: 0.6, xmit_data_bytes_total: 6e9 }),
    opens: 'pfc_victim/nic-mlx5_4-1',
    severity: 'warning',
    standsAfterS: 8,
  },
  {
    title: 'many senders to one port',
    begin: (node) =>
      node
        .nic(1)
        .rate({ np_ecn_marked_roce_packets_total: 1.6e6, rcv_packets_total: 16.5e6, rcv_data_bytes_total: 48e9 }),
    opens: 'congestion/nic-mlx5_1-1',
    severity: 'warning',
    standsAfterS: 10,
  },
  {
    title: 'flows that share a link on the way',
    begin: (node) => node.nic(1).rate({ np_ecn_marked_roce_packets_total: 0.5e6 }),
    opens: 'congestion/nic-mlx5_1-1',
    severity: 'warning',
    standsAfterS: 10,
  },
  {
    title: 'a driver that does not answer: its counters are gone, and what RDMA counts goes on',
    begin: (node) => silenceDriver(node, 4),
    opens: 'driver_stuck/nic-mlx5_4-1',
    severity: 'warning',
    standsAfterS: 3,
  },
  {
    title: 'drivers of several adapters that do not answer',
    begin: (node) => {
      for (const index of [1, 2, 3, 4]) silenceDriver(node, index)
    },
    opens: 'driver_stuck/node',
    severity: 'warning',
    standsAfterS: 3,
  },
  {
    title: 'a link that goes down',
    begin: (node) => linkDown(node, 5),
    each: (node, second) => second === 4 && linkUp(node, 5),
    opens: 'link_flap/nic-mlx5_5-1',
    severity: 'warning',
    standsAfterS: 1,
  },
  {
    title: 'optics that age',
    begin: (node) => {
      node.nic(6).set({ raw_bit_error_ratio: 3e-6 })
      node.nic(6).rate({ rx_corrected_bits_phy_total: 1.3e6 })
    },
    opens: 'link_ber/nic-mlx5_6-1',
    severity: 'warning',
    standsAfterS: 12,
  },
  {
    title: 'errors after correction',
    begin: (node) => node.nic(6).rate({ rx_pcs_symbol_err_phy_total: 20, effective_errors_total: 20 }),
    opens: 'link_ber/nic-mlx5_6-1',
    severity: 'critical',
    standsAfterS: 12,
  },
  {
    title: 'a PCIe link of a NIC that fell back',
    begin: (node) => {
      node.nic(3).set({ ...downtrained, outbound_pci_stalled_wr_ratio: 0.7 })
      node.nic(3).rate({ tx_pause_seconds_total: 0.5 })
    },
    opens: 'pcie_downtrain/nic-mlx5_3-1',
    severity: 'critical',
    standsAfterS: 4,
  },
  {
    title: 'a PCIe link of a GPU that fell back',
    begin: (node) => node.gpu(2).set({ ...downtrained, pcie_link_gen: 3 }),
    opens: 'pcie_downtrain/gpu-2',
    severity: 'critical',
    standsAfterS: 4,
  },
  {
    title: 'PCIe errors in bursts',
    begin: () => undefined,
    each: (node, second) => second % 10 === 0 && pcieErrors(node.nic(7), 'BadTLP', 800),
    opens: 'pcie_aer/nic-mlx5_7-1',
    severity: 'warning',
    standsAfterS: 301,
  },
  {
    title: 'one PCIe error that was not corrected',
    begin: (node) => pcieErrors(node.nic(7), 'CmpltTO', 1),
    opens: 'pcie_aer/nic-mlx5_7-1',
    severity: 'critical',
    standsAfterS: 1,
  },
  {
    title: 'replays of a GPU',
    begin: () => undefined,
    each: (node, second) => second % 20 === 0 && node.gpu(1).add({ pcie_replay_counter: 500 }),
    opens: 'pcie_aer/gpu-1',
    severity: 'warning',
    standsAfterS: 301,
  },
  {
    title: 'an uncorrected memory error',
    begin: (node) => {
      node.gpu(4).add({ ecc_dbe_vol_total: 1 })
      node.gpu(4).set({ row_remap_pending: 1 })
      tellXid(node.gpu(4), 48)
    },
    opens: 'ecc_uncorrected/gpu-4',
    severity: 'critical',
    standsAfterS: 1,
  },
  {
    title: 'an XID of memory',
    begin: (node) => tellXid(node.gpu(4), 94),
    opens: 'ecc_uncorrected/gpu-4',
    severity: 'critical',
    standsAfterS: 1,
  },
  {
    title: 'a row that waits for a reset',
    begin: (node) => node.gpu(4).set({ row_remap_pending: 1 }),
    opens: 'ecc_pending/gpu-4',
    severity: 'warning',
    standsAfterS: 4,
  },
  {
    title: 'a row that could not be replaced',
    begin: (node) => node.gpu(4).set({ row_remap_failure: 1 }),
    opens: 'ecc_pending/gpu-4',
    severity: 'critical',
    standsAfterS: 4,
  },
  {
    title: 'many corrected memory errors',
    begin: (node) => node.gpu(4).rate({ ecc_sbe_vol_total: 20 }),
    opens: 'ecc_corrected/gpu-4',
    severity: 'notice',
    standsAfterS: 605,
  },
  {
    title: 'an uncorrected error of the memory of the node',
    begin: (node) => {
      const { totals } = node.host.of(hostMemoryControllerType, { controller: '1' })
      totals.uncorrected_errors_total = (totals.uncorrected_errors_total ?? 0) + 1
    },
    opens: 'host_memory/node',
    severity: 'critical',
    standsAfterS: 1,
  },
  {
    title: 'a processor that gets too hot',
    begin: (node) => {
      const { rates } = node.host.of(hostCpuPackageType, { package: '1' })
      Object.assign(rates, { throttles_total: 2, throttled_seconds_total: 0.5 })
    },
    opens: 'cpu_throttle/node',
    severity: 'warning',
    standsAfterS: 11,
  },
  {
    title: 'a processor that was hot for long: the kernel counts it when it is over',
    begin: (node) => node.host.add({ throttles_total: 1, throttled_seconds_total: 600 }),
    opens: 'cpu_throttle/node',
    severity: 'warning',
    standsAfterS: 1,
  },
  {
    title: 'a GPU that gets too hot',
    begin: (node) => {
      node.gpu(5).set({ gpu_temp: 88, clocks_event_reasons: 0x20, sm_clock: 1500 })
      node.gpu(5).rate({ thermal_violation: 5e8, clocks_event_reason_sw_therm_slowdown_ns: 5e8 })
    },
    opens: 'thermal_throttle/gpu-5',
    severity: 'warning',
    standsAfterS: 11,
  },
  {
    title: 'a hot GPU that is not slowed down yet',
    begin: (node) => node.gpu(5).set({ gpu_temp: 84 }),
    opens: 'gpu_hot/gpu-5',
    severity: 'warning',
    standsAfterS: 11,
  },
  {
    title: 'memory of a GPU that is hotter than it may be',
    begin: (node) => node.gpu(2).set({ memory_temp: 97 }),
    opens: 'gpu_hot/gpu-2',
    severity: 'warning',
    standsAfterS: 11,
  },
  {
    title: 'a power limit that was lowered on all GPUs',
    begin: (node) => everyGpu(node, { enforced_power_limit: 500, power_usage: 500, sm_clock: 1500 }),
    opens: 'power_cap/node',
    severity: 'warning',
    standsAfterS: 11,
  },
  {
    title: 'a power limit that was lowered on one GPU',
    begin: (node) => node.gpu(3).set({ enforced_power_limit: 500, power_usage: 500, sm_clock: 1500 }),
    opens: 'power_cap/gpu-3',
    severity: 'warning',
    standsAfterS: 11,
  },
  {
    title: 'the power brake',
    begin: (node) => everyGpu(node, { clocks_event_reasons: 0x88, sm_clock: 990, power_usage: 314 }),
    opens: 'power_brake/node',
    severity: 'critical',
    standsAfterS: 1,
  },
  {
    title: 'a GPU that all others wait for',
    begin: (node) => {
      everyGpu(node, { pipe_tensor_active: 0.41, sm_active: 0.67, power_usage: 540 })
      node.gpu(5).set({ pipe_tensor_active: 0.51, sm_active: 0.82, power_usage: 628 })
      everyRail(node, { xmit_data_bytes_total: 12.8e9, rcv_data_bytes_total: 12.8e9 })
    },
    opens: 'straggler/gpu-5',
    severity: 'warning',
    standsAfterS: 32,
  },
  {
    title: 'a collective that hangs',
    begin: (node) => {
      everyGpu(node, spinning)
      everyRail(node, noTraffic)
    },
    opens: 'stuck_collective/node',
    severity: 'critical',
    standsAfterS: 32,
  },
  {
    title: 'a collective that hangs for one GPU that is in no kernel',
    begin: (node) => {
      everyGpu(node, spinning)
      node.gpu(6).set({ gpu_util: 0, sm_active: 0, power_usage: 125 })
      everyRail(node, noTraffic)
    },
    opens: 'stuck_collective/gpu-6',
    severity: 'critical',
    standsAfterS: 32,
  },
  {
    title: 'a GPU that falls off the bus',
    begin: (node) => {
      node.gpu(2).silence(true)
      everyRail(node, noTraffic)
      for (const gpu of node.gpus) if (gpu !== node.gpu(2)) gpu.set(spinning)
    },
    opens: 'gpu_lost/gpu-2',
    severity: 'critical',
    standsAfterS: 9,
  },
  {
    title: 'an XID of NVLink',
    begin: (node) => tellXid(node.gpu(2), 74),
    opens: 'gpu_error/gpu-2',
    severity: 'critical',
    standsAfterS: 1,
  },
  {
    title: 'input that comes late',
    begin: (node) => node.host.rate({ waiting_seconds_total: 0.4 }),
    each: (node, second) =>
      everyGpu(node, second % 3 === 2 ? { gpu_util: 95 } : { gpu_util: 20, pipe_tensor_active: 0.1 }),
    opens: 'data_stall/node',
    severity: 'warning',
    standsAfterS: 13,
  },
  {
    title: 'another tenant on a rail',
    begin: (node) => {
      const [priority0] = [...node.nic(3).series.values()].filter(({ labels }) => labels.priority === '0')
      Object.assign(priority0?.rates ?? {}, { tx_bytes_total: 15e9 })
    },
    opens: 'noisy_neighbour/nic-mlx5_3-1',
    severity: 'warning',
    standsAfterS: 11,
  },
  {
    title: 'a checkpoint',
    begin: (node) => {
      everyGpu(node, {
        gpu_util: 15,
        sm_active: 0.01,
        pipe_tensor_active: 0,
        dram_active: 0.02,
        power_usage: 160,
        pcie_tx_bytes: 20e9,
        pcie_rx_bytes: 1e8,
      })
      everyRail(node, noTraffic)
      node.nic(8).rate({ xmit_data_bytes_total: 10e9 })
    },
    each: (node, second) => second === 4 && everyGpu(node, { pcie_tx_bytes: 0 }),
    opens: 'checkpoint/node',
    severity: 'notice',
    standsAfterS: 3,
  },
  {
    title: 'profiling counters that have stopped: their values are left out',
    begin: (node) => {
      const labels = { gpu: '3', UUID: 'GPU-3', doubt: 'profiling' }
      node.gpu(3).of(nvmlDoubtType, labels).values.readings = 5
      const fields = ['sm_active', 'pipe_tensor_active', 'dram_active', 'pcie_tx_bytes', 'pcie_rx_bytes']
      node.gpu(3).set(Object.fromEntries(fields.map((field) => [field, undefined])))
    },
    opens: 'standing_profile/gpu-3',
    severity: 'notice',
    standsAfterS: 32,
  },
  {
    title: 'a GPU that MIG splits',
    begin: (node) => splitGpu(node.gpu(0), 7),
    opens: 'shared_device/gpu-0',
    severity: 'notice',
    standsAfterS: 3,
  },
  {
    title: 'a pod with its GPU and its NIC on different sockets',
    begin: (node) => holdWithNic(node, 2, 'trainer-0', [0, 1]),
    opens: 'far_nic/gpu-2',
    severity: 'notice',
    standsAfterS: 12,
  },
  {
    title: 'RDMA on a priority without flow control',
    begin: (node) => priorities(node, 3, { 0: 15.6e9, 3: 1e6 }),
    opens: 'pfc_priority/nic-mlx5_3-1',
    severity: 'warning',
    standsAfterS: 10,
  },
]
