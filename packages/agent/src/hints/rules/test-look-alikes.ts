import { tellXid } from '../test-training-node.ts'
import {
  type Change,
  everyGpu,
  everyRail,
  holdWithNic,
  linkDown,
  noTraffic,
  pcieErrors,
  priorities,
  spinning,
} from './test-changes.ts'

/** What looks like the effect of a rule and is none. */
export const LOOK_ALIKES: readonly Change[] = [
  {
    title: 'a GPU and a NIC of a pod on two NUMA nodes of one socket',
    begin: (node) => holdWithNic(node, 2, 'trainer-0', [0, 0], [0, 3]),
  },
  {
    title: 'a pod with GPUs on both sockets, and a NIC near one of them',
    begin: (node) => {
      holdWithNic(node, 2, 'trainer-0', [0, 1])
      holdWithNic(node, 5, 'trainer-0', [1, 1])
    },
  },
  {
    title: 'adaptive routing: packets out of order, none asked for again',
    begin: (node) => node.nic(3).rate({ out_of_sequence_total: 50_000 }),
  },
  {
    title: 'a receiver that is not ready',
    begin: (node) => node.nic(3).rate({ packet_seq_err_total: 200, rnr_nak_retry_err_total: 5000 }),
  },
  {
    title: 'a fabric that loses everywhere alike',
    begin: (node) => everyRail(node, { packet_seq_err_total: 150 }),
  },
  {
    title: 'packets lost to congestion together with pauses',
    begin: (node) =>
      node.nic(3).rate({ packet_seq_err_total: 500, rx_discards_phy_total: 500, rx_pause_seconds_total: 0.03 }),
  },
  {
    title: 'pauses of an idle link',
    begin: (node) => node.nic(8).rate({ rx_pause_seconds_total: 0, tx_pause_seconds_total: 0, ...noTraffic }),
  },
  {
    title: 'traffic without RDMA on a priority without flow control',
    begin: (node) => priorities(node, 3, { 0: 2e9, 3: 15.6e9 }),
  },
  {
    title: 'RDMA where no priority has flow control, as adapters without it want',
    begin: (node) => {
      node.nic(3).set({ pfc_mask: 0 })
      priorities(node, 3, { 0: 15.6e9, 3: 0 })
    },
  },
  {
    title: 'a little RDMA of a service on a priority without flow control',
    begin: (node) => {
      node.nic(8).rate({ xmit_data_bytes_total: 1e6, rcv_data_bytes_total: 1e6 })
      priorities(node, 8, { 0: 1e6, 3: 0 })
    },
  },
  {
    title: 'short pauses of a port that receives at line rate',
    begin: (node) =>
      node.nic(2).rate({ tx_pause_seconds_total: 0.25, rcv_data_bytes_total: 47e9, rcv_packets_total: 16e6 }),
  },
  {
    title: 'marks in every burst, below 1 %',
    begin: (node) => everyRail(node, { np_ecn_marked_roce_packets_total: 50_000 }),
  },
  {
    title: 'marks where congestion control is switched off',
    begin: (node) => node.nic(1).rate({ np_ecn_marked_roce_packets_total: 1e6, rp_cnp_ignored_total: 5000 }),
  },
  {
    title: 'a switch that restarts: three links down within a second',
    begin: (node) => {
      for (const index of [1, 2, 3]) linkDown(node, index)
    },
  },
  {
    title: 'adapters whose source is replaced: no samples of their drivers',
    begin: (node) => {
      for (const { series } of node.nics)
        for (const one of series.values()) if (one.type.name.startsWith('ethtool_')) one.isSilent = true
    },
  },
  {
    title: 'an interface that an operator switches off',
    begin: (node) => {
      node.nic(8).add({ carrier_changes_total: 1 })
      node.nic(8).set({ carrier: undefined, up: 0 })
    },
  },
  {
    title: 'a driver that is loaded anew',
    begin: (node) => {
      node.nic(5).reset()
      node.nic(5).silence(true)
    },
    each: (node, second) => second === 20 && node.nic(5).silence(false),
  },
  {
    title: 'corrected bits of all ports that drift together',
    begin: (node) => {
      for (const nic of node.rails) nic.set({ raw_bit_error_ratio: 2e-7 })
    },
  },
  {
    title: 'links of idle GPUs that save power',
    begin: (node) =>
      everyGpu(node, {
        pcie_link_gen: 1,
        current_link_speed_transfers_per_second: 2.5e9,
        pcie_tx_bytes: 1e5,
        pcie_rx_bytes: 1e5,
      }),
  },
  {
    title: 'slots that are wired narrower',
    begin: (node) => everyGpu(node, { current_link_width_lanes: 8, pcie_link_width: 8 }),
  },
  {
    title: 'single PCIe errors',
    begin: (node) => node.nic(7).rate({}),
    each: (node, second) => second % 7 === 0 && pcieErrors(node.nic(7), 'BadTLP', 1),
  },
  {
    title: 'advisory errors of functions that are not there',
    begin: () => undefined,
    each: (node) => pcieErrors(node.nic(7), 'NonFatalErr', 500),
  },
  { title: 'XIDs of applications', begin: (node) => [13, 31, 43, 45].forEach((xid) => void tellXid(node.gpu(1), xid)) },
  {
    title: 'a few corrected memory errors',
    begin: (node) => node.gpu(4).add({ ecc_sbe_vol_total: 3 }),
  },
  {
    title: 'corrected errors of the memory of the node',
    begin: (node) => node.host.rate({ corrected_errors_total: 5 }),
  },
  {
    title: 'counters of memory errors that an operator sets to zero',
    begin: (node) => node.host.reset(),
  },
  {
    title: 'processors that are too hot for a moment when load begins',
    begin: (node) => node.host.add({ throttles_total: 3, throttled_seconds_total: 0.2 }),
  },
  {
    title: 'the power limit at its default, with the usual clock',
    begin: (node) => {
      for (const gpu of node.gpus) gpu.rate({ clocks_event_reason_sw_power_cap_ns: 1e9 })
    },
  },
  {
    title: 'a warm GPU, and warm memory, each below its limit',
    begin: (node) => node.gpu(5).set({ gpu_temp: 83, memory_temp: 95 }),
  },
  {
    title: 'a cool GPU that is slowed down for a moment',
    begin: (node) => node.gpu(5).rate({ thermal_violation: 5e7 }),
  },
  {
    title: 'all GPUs low and none high: a straggler on another node',
    begin: (node) => everyGpu(node, { pipe_tensor_active: 0.38, sm_active: 0.6, power_usage: 520 }),
  },
  {
    title: 'two GPUs that do more: stages of a pipeline',
    begin: (node) => {
      for (const index of [1, 2]) node.gpu(index).set({ pipe_tensor_active: 0.6, sm_active: 0.9 })
    },
  },
  {
    title: 'communication that computing does not hide',
    begin: (node) => everyGpu(node, spinning),
  },
  {
    title: 'a job that ended',
    begin: (node) => {
      everyGpu(node, {
        gpu_util: 0,
        sm_active: 0,
        pipe_tensor_active: 0,
        dram_active: 0,
        power_usage: 124,
        fb_used: 4,
        pcie_tx_bytes: 0,
        pcie_rx_bytes: 0,
      })
      everyRail(node, noTraffic)
    },
  },
  {
    title: 'decoding at low load',
    begin: (node) => {
      everyGpu(node, { gpu_util: 98, pipe_tensor_active: 0.005, dram_active: 0.6, power_usage: 240 })
      everyRail(node, noTraffic)
    },
  },
  {
    title: 'requests that come and go, without training on the rails',
    begin: (node) => {
      everyRail(node, { xmit_data_bytes_total: 2e8 })
      everyGpu(node, { pcie_tx_bytes: 2e8, pcie_rx_bytes: 2e8 })
      node.run(40)
    },
    each: (node, second) => everyGpu(node, { gpu_util: second % 4 === 0 ? 95 : 30 }),
  },
  {
    title: 'a driver or an exporter that restarts: all GPUs are gone',
    begin: (node) => {
      for (const gpu of node.gpus) gpu.silence(true)
    },
    each: (node, second) => second === 20 && node.gpus.forEach((gpu) => void gpu.silence(false)),
  },
  {
    title: 'a sample that is missed',
    begin: () => undefined,
    each: (node, second) => {
      node.gpu(3).silence(second % 30 === 5)
    },
  },
  {
    title: 'a job that uses several priorities on all rails',
    begin: (node) => {
      for (const nic of node.rails)
        for (const { labels, rates } of nic.series.values()) if (labels.priority === '0') rates.tx_bytes_total = 8e9
    },
  },
  {
    title: 'a dirty cable: checksums are wrong where packets are missed',
    begin: (node) => node.nic(3).rate({ packet_seq_err_total: 200, rx_icrc_encapsulated_total: 180 }),
  },
  {
    title: 'sequence errors of a port that its peers sometimes pause',
    begin: (node) => node.nic(3).rate({ packet_seq_err_total: 200, rx_pause_seconds_total: 0.1 }),
  },
  {
    title: 'a paused port without traffic',
    begin: (node) => {
      node.nic(8).rate(noTraffic)
      node.run(130)
      node.nic(8).rate({ rx_pause_seconds_total: 0.6 })
    },
  },
  {
    title: 'a port without traffic whose link goes down',
    begin: (node) => {
      node.nic(8).rate(noTraffic)
      node.run(130)
      linkDown(node, 8)
    },
  },
  {
    title: 'PCIe errors of a device that was reset',
    begin: (node) => {
      node.nic(7).reset()
      node.run(1)
      node.nic(7).add({ errors_total: 2000 })
    },
  },
  {
    title: 'GPUs that serve requests of their own, one busier than the others',
    begin: (node) => {
      everyRail(node, { xmit_data_bytes_total: 2e8 })
      everyGpu(node, { pcie_tx_bytes: 2e8, pcie_rx_bytes: 2e8 })
      node.run(40)
      node.gpu(5).set({ pipe_tensor_active: 0.6, sm_active: 0.9 })
    },
  },
  {
    title: 'GPUs that wait while storage is written',
    begin: (node) => {
      everyGpu(node, spinning)
      everyRail(node, noTraffic)
      node.nic(8).rate({ xmit_data_bytes_total: 10e9 })
    },
  },
  {
    title: 'half of the GPUs at rest',
    begin: (node) => {
      for (const index of [0, 1, 2, 3]) node.gpu(index).set({ gpu_util: 20 })
    },
  },
  {
    title: 'storage that uses several priorities',
    begin: (node) => {
      for (const { labels, rates } of node.nic(8).series.values())
        if (labels.priority !== undefined) rates.tx_bytes_total = 8e9
    },
  },
  {
    title: 'copies to the host while GPUs compute',
    begin: (node) => {
      everyRail(node, noTraffic)
      everyGpu(node, { pcie_tx_bytes: 20e9, pcie_rx_bytes: 1e8 })
    },
  },
]
