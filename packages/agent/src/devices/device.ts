import type { EntityRef, Labels } from '@sonde/sdk'

/** A device that is only a share of a board, such as a virtual function in a VM. */
export type DeviceShare = 'virtual function' | 'subfunction'

/** One entity of the node, built from the records that define it. Most are devices. */
export interface Device {
  /**
   * Part of page addresses. It stays the same while the device exists. It begins with `sim-` if the device is
   * simulated, and ends with `@` and the host if the device is on another host than the agent.
   */
  readonly id: string
  /**
   * `gpu`, `nic` (a port of an RDMA device), `netdev` (an interface without a NIC), `pci`, or a kind that a type
   * declares.
   */
  readonly kind: string
  /** The name that the kernel or driver uses; for kinds without code, the key. It ends like the id on another host. */
  readonly name: string
  /** Number of the rail: GPUs and NICs that belong together. Null outside of any rail. */
  readonly rail: number | null
  readonly isSimulated: boolean
  /** Name of the device's host. */
  readonly host: string
  /** When it left; undefined while it is present. Unit: milliseconds since the Unix epoch. */
  readonly goneMs: number | undefined
  /** Why it left, as its source reported; empty while it is present. */
  readonly goneReason: string
  /** Interfaces that belong to it. */
  readonly netdevs: readonly string[]
  /** Labels of the series of its own type. */
  readonly labels: Labels
  /** Labels of the entities that are parts of it, by kind: a NIC has its `netdev` and its `pci` device. */
  readonly series: Readonly<Record<string, Labels>>
  /** The entity of the defining record. For a GPU that only the bus reports, this is a PCI device. */
  readonly about: EntityRef
  /** Type of that record. */
  readonly type: string
  /** Source of that record. */
  readonly source: string
  /** Ids of the entities that name it or that it names, while a series says so. */
  readonly relations: readonly string[]
  readonly model: string
  /** Its share of a board; null for a whole board or a port of a board. */
  readonly share: DeviceShare | null
  readonly driver: string
  /** PCI address; empty if unknown. */
  readonly address: string
  readonly numaNode: number | null
  /** Addresses of the bridges from the root port to just above the device. */
  readonly path: readonly string[]
  /** Upstream port of its PCIe switch; null without one. */
  readonly switch: string | null
  /** Other devices of the same rail, by id. */
  readonly pairs: readonly string[]
  /** Known hard limits, by name with the unit at the end. */
  readonly limits: Readonly<Record<string, number>>
}
