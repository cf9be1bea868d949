import type { Labels } from '@sonde/sdk'

/** What a device is: `nic` is a port of an RDMA device, `netdev` an interface that belongs to none. */
export type DeviceKind = 'gpu' | 'nic' | 'netdev' | 'pci'

/** What is none of the hardware's own: a share of a board, such as a VM is given one. */
export type DeviceShare = 'virtual function' | 'subfunction'

/** Families of types by whose labels series of a device are found. */
export type SeriesFamily = 'nvml' | 'rdma' | 'netdev' | 'ethtool' | 'pci'

/** One device of the node, made of the records that identify it. */
export interface Device {
  /**
   * Part of the addresses of pages; the same for as long as the device is. Begins with `sim-` where it is simulated.
   */
  readonly id: string
  readonly kind: DeviceKind
  /** What kernel or driver call it. */
  readonly name: string
  /** Column of GPUs and NICs that belong together; null for what is in none. */
  readonly rail: number | null
  readonly isSimulated: boolean
  /** When it left; undefined while it is there. Unit: milliseconds since the Unix epoch. */
  readonly goneMs: number | undefined
  /** Why it left, as its source says; empty while it is there. */
  readonly goneReason: string
  /** Interfaces that belong to it. */
  readonly netdevs: readonly string[]
  /** Labels of the series of its own type. */
  readonly labels: Labels
  /** Labels of its series in other families. */
  readonly series: Readonly<Partial<Record<SeriesFamily, Labels>>>
  readonly model: string
  /** What share of a board it is; null for a board, or a port of one. */
  readonly share: DeviceShare | null
  readonly driver: string
  /** PCI address, empty where it has none or none is known. */
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
