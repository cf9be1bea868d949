import { getJson } from './client.ts'
import { createPoll, type Resource, usePoll } from './resources.ts'
import type { Labels } from './types.ts'

/** What a device is: `netdev` is an interface without a device of its own. */
export type DeviceKind = 'gpu' | 'nic' | 'netdev' | 'pci'

/** One device of `/api/v1/devices`. */
export interface DeviceInfo {
  /** Part of the addresses of pages; begins with `sim-` where the device is simulated. */
  readonly id: string
  readonly kind: DeviceKind
  /** What kernel or driver call it. */
  readonly name: string
  /** Column of a GPU and the NIC that is closest to it; null for what is in none. */
  readonly rail: number | null
  readonly state: 'present' | 'gone'
  /** Since when it is gone. */
  readonly goneMs?: number
  /** Why, as its source says. */
  readonly goneReason?: string
  readonly simulated: boolean
  /** Labels of the series of its own type. */
  readonly labels: Labels
  /** Labels of its series of other families: `pci`, `rdma`, `netdev`, `ethtool`. */
  readonly series?: Readonly<Record<string, Labels>>
  /** Interfaces that belong to it. */
  readonly netdevs?: readonly string[]
  readonly model?: string
  readonly driver?: string
  readonly address?: string
  readonly numaNode?: number | null
  /** Addresses of the bridges from the root port to just above the device. */
  readonly path?: readonly string[]
  /** Upstream port of its PCIe switch; null without one. */
  readonly switch?: string | null
  /** Devices of the same rail, by id. */
  readonly pairs: readonly string[]
  /** Hard limits that are known: `power_watts`, `memory_bytes`, `pcie_bytes_per_s`. */
  readonly limits: Readonly<Record<string, number>>
}

/** Answer of `/api/v1/devices`. */
export interface DevicesAnswer {
  readonly nowMs: number
  readonly devices: readonly DeviceInfo[]
}

const devicesPoll = createPoll(() => getJson<DevicesAnswer>('/api/v1/devices'), 3_000)

/** What the node has, renewed every 3 s. */
export function useDevices(): Resource<DevicesAnswer> {
  return usePoll(devicesPoll)
}
