import type { Labels } from '../schema/series.ts'

/** A part of a board, such as a virtual machine gets. */
export type DeviceShare = 'virtual function' | 'subfunction'

/** One entity of the node: a device, or any other entity that a record type defines. */
export interface ListedDevice {
  /**
   * Part of page addresses; never changes for a device. Begins with `sim-` where the device is simulated, and ends with
   * `@` and the host where that is not the agent's host.
   */
  readonly id: string
  /** `gpu`, `nic` (a port of an RDMA device), `netdev` (an interface of no device), `pci`, or the kind of a type. */
  readonly kind: string
  /** Name that kernel or driver use; of other kinds its key. Ends as the id where it is on another host. */
  readonly name: string
  /** Column of GPUs and NICs that belong together; null for devices in no column. */
  readonly rail: number | null
  readonly state: 'present' | 'gone'
  /** When it left; absent while it is there. Unit: milliseconds since the Unix epoch. */
  readonly goneMs?: number
  /** Why it left; absent while it is there. */
  readonly goneReason?: string
  readonly simulated: boolean
  /** Host that it is on. */
  readonly host: string
  /** Labels of the series of its own type. */
  readonly labels: Labels
  /** Labels of other entities that are parts of it, by kind: a NIC has its `netdev` and its `pci` device. */
  readonly series: Readonly<Record<string, Labels>>
  /** Type of the record that defines it. */
  readonly type: string
  /** Source of that record. */
  readonly source: string
  /** Ids of entities that name it or that it names, for as long as a series does. */
  readonly relations: readonly string[]
  /** Interfaces that belong to it. */
  readonly netdevs: readonly string[]
  /** Empty where it is not known; so are `driver` and `address`. */
  readonly model: string
  /** What part of a board it is; null for a board, or a port of a board. */
  readonly share: DeviceShare | null
  readonly driver: string
  /** PCI address. */
  readonly address: string
  readonly numaNode: number | null
  /** Socket of the processors that it is closest to; null if unknown. */
  readonly socket: number | null
  /** Addresses of the bridges from the root port to just above the device. */
  readonly path: readonly string[]
  /** Upstream port of its PCIe switch; null without a switch. */
  readonly switch: string | null
  /** Ids of the other devices of the same rail. */
  readonly pairs: readonly string[]
  /** Known hardware limits: `power_watts`, `memory_bytes`, `pcie_bytes_per_s`. */
  readonly limits: Readonly<Record<string, number>>
}

/** What `GET /api/v1/devices` answers. */
export interface DevicesAnswer {
  readonly nowMs: number
  readonly devices: readonly ListedDevice[]
}
