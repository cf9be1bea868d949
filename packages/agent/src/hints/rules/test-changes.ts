import { podGpuNicType } from '../../pods/type.ts'
import type { MadeDevice, TrainingNode } from '../test-training-node.ts'

/** Something that is different on a node that trains. */
export interface Change {
  readonly title: string
  /** The change. `second` counts from its start. */
  readonly begin: (node: TrainingNode) => void
  readonly each?: (node: TrainingNode, second: number) => void
}

/** Sets gauges of all GPUs. */
export const everyGpu = (node: TrainingNode, values: Record<string, number | undefined>) => {
  for (const gpu of node.gpus) gpu.set(values)
}
/** Sets rates of all training NICs. */
export const everyRail = (node: TrainingNode, rates: Record<string, number | undefined>) => {
  for (const nic of node.rails) nic.rate(rates)
}
/** A port that carries nothing. */
export const noTraffic = {
  xmit_data_bytes_total: 0,
  rcv_data_bytes_total: 0,
  xmit_packets_total: 0,
  rcv_packets_total: 0,
}
/** The link of a NIC goes down. */
export const linkDown = (node: TrainingNode, index: number) => {
  node.nic(index).add({ link_down_events_phy_total: 1, link_downed_total: 1, carrier_changes_total: 1 })
  node.nic(index).set({ carrier: 0, state: 1 })
}
/** It comes back. */
export const linkUp = (node: TrainingNode, index: number) => {
  node.nic(index).add({ carrier_changes_total: 1 })
  node.nic(index).set({ carrier: 1, state: 4 })
}
/** The driver of a NIC answers no call any more. */
export const silenceDriver = (node: TrainingNode, index: number) => {
  node.nic(index).set({ responsive: 0 })
  for (const one of node.nic(index).series.values())
    if (/^ethtool_(port|priority|lane)$/.test(one.type.name)) one.isSilent = true
}
/** A GPU that waits in a kernel. */
export const spinning = { gpu_util: 100, sm_active: 0.1, pipe_tensor_active: 0, dram_active: 0.01, power_usage: 180 }
/** A PCIe link that fell back to Gen3. */
export const downtrained = {
  current_link_speed_transfers_per_second: 8e9,
  current_link_bandwidth_bytes_per_second: 15.8e9,
}

/** PCIe errors of one kind that a device counts at once. */
export function pcieErrors(made: MadeDevice, error: string, count: number): void {
  for (const { labels, totals } of made.series.values())
    if (labels.error === error) totals.errors_total = (totals.errors_total ?? 1000) + count
}
/** A pod holds a GPU, with the sockets of the GPU and of the closest NIC of the pod, and their NUMA nodes. */
export const holdWithNic = (
  node: TrainingNode,
  gpu: number,
  pod: string,
  [gpuSocket, nicSocket]: readonly [number, number],
  [gpuNode, nicNode]: readonly [number, number] = [gpuSocket, nicSocket],
) => {
  const labels = { namespace: 'ml', pod, Hostname: '', UUID: `GPU-${gpu}`, GPU_I_ID: '', nic: 'mlx5_7' }
  Object.assign(node.gpu(gpu).of(podGpuNicType, labels).values, {
    ...{ same_socket: gpuSocket === nicSocket ? 1 : 0, gpu_socket: gpuSocket, nic_socket: nicSocket },
    ...{ gpu_numa_node: gpuNode, nic_numa_node: nicNode, nics: 1 },
  })
}
/** How fast a NIC sends with each priority. Unit: bytes per second. */
export function priorities(node: TrainingNode, index: number, rates: Readonly<Record<number, number>>): void {
  for (const { type, labels, rates: made } of node.nic(index).series.values())
    if (type.name === 'ethtool_priority') made.tx_bytes_total = rates[Number(labels.priority)]
}
