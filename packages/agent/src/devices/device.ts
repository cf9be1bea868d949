import type { EntityRef, Labels } from '@sonde/sdk'

/** What is none of the hardware's own: a share of a board, such as a VM is given one. */
export type DeviceShare = 'virtual function' | 'subfunction'

/** One entity of the node, made of the records that define it: a device, or what else a type tells of. */
export interface Device {
  /**
   * Part of the addresses of pages; the same for as long as the device is. Begins with `sim-` if it is simulated,
   * and ends with `@` and the host where that is another than the agent's.
   */
  readonly id: string
  /**
   * `gpu`, `nic` (a port of an RDMA device), `netdev` (an interface that belongs to none), `pci`, or what a type says.
   */
  readonly kind: string
  /** What kernel or driver call it; of kinds without code its key. Ends as the id where it is on another host. */
  readonly name: string
  /** Column of GPUs and NICs that belong together; null for what is in none. */
  readonly rail: number | null
  readonly isSimulated: boolean
  /** Name of the host that it is on. */
  readonly host: string
  /** When it left; undefined while it is there. Unit: milliseconds since the Unix epoch. */
  readonly goneMs: number | undefined
  /** Why it left, as its source says; empty while it is there. */
  readonly goneReason: string
  /** Interfaces that belong to it. */
  readonly netdevs: readonly string[]
  /** Labels of the series of its own type. */
  readonly labels: Labels
  /** Labels of other entities that are parts of it, by kind: a NIC has its `netdev` and its `pci` device. */
  readonly series: Readonly<Record<string, Labels>>
  /** What the record that defines it is about: for a GPU that only the bus knows, a PCI device. */
  readonly about: EntityRef
  /** Type of that record. */
  readonly type: string
  /** Source of that record. */
  readonly source: string
  /** Entities that name it or that it names, by id, as long as a series says so. */
  readonly relations: readonly string[]
  readonly model: string
  /** What share of a board it is; null for a board, or a port of one. */
  readonly share: DeviceShare | null
  readonly driver: string
  /** PCI address, empty if it has none or none is known. */
  readonly address: string
  readonly numaNode: number | null
  /** Addresses of the bridges from the root port to just above the device. */
  readonly path: readonly string[]
  /** Upstream port of its PCIe switch; null without one. */
  readonly switch: string | null
  /** Other devices of the same rail, by id. */
  readonly pairs: readonly string[]
  /** Hard limits that are known, by name with the unit at the end. */
  readonly limits: Readonly<Record<string, number>>
}
