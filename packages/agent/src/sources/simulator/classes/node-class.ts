/** A kind of GPU. */
export interface GpuModel {
  readonly name: string
  readonly productId: string
  readonly powerLimitWatts: number
  readonly powerLimitMinWatts: number
  /** Power without a process, and with an idle process. Unit: watts. */
  readonly idleWatts: number
  readonly contextWatts: number
  /** Memory that NVML reports, and the part that the driver reserves. Unit: MiB. */
  readonly memoryMiB: number
  readonly reservedMiB: number
  readonly smCount: number
  readonly smClockMHz: number
  readonly memoryClockMHz: number
  /** Number of links, 0 without NVLink, and speed of all links in bytes per second and direction. */
  readonly nvlinkLinks: number
  readonly nvlinkBytesPerS: number
  readonly pcieGeneration: number
  readonly hasMemoryTemperature: boolean
  readonly hasMig: boolean
}

/** A kind of network adapter. */
export interface NicModel {
  readonly name: string
  readonly productId: string
  readonly board: string
  readonly firmware: string
  /** Of one port. Unit: bytes a second. */
  readonly speedBytesPerS: number
  readonly lanes: number
  /** Bits per second on the lanes of a port, including error correction. */
  readonly rawBitsPerS: number
  readonly signalling: string
  readonly pcieGeneration: number
  readonly hasDpa: boolean
}

/** PCI location of a device. */
export interface PciPlace {
  readonly address: string
  /** Bridges from the root port down to the device. */
  readonly path: readonly string[]
  readonly numaNode: number
}

/** Address of a device without its function. Devices with the same slot share a link. */
export function pciSlot({ address }: PciPlace): string {
  return address.replace(/\.\d$/, '')
}

/** A GPU of a node. */
export interface GpuPlace extends PciPlace {
  readonly index: number
  readonly model: GpuModel
  /** MIG instances of a GPU that is always split; `load` is the share of its slice that an instance uses. */
  readonly mig?: readonly { readonly profile: string; readonly load: number }[]
}

/** A NIC of a node: one RDMA device with one port, and its interfaces. */
export interface NicPlace extends PciPlace {
  readonly index: number
  readonly model: NicModel
  /** `training`: one rail of the job. `storage`: data and checkpoints. */
  readonly role: 'training' | 'storage'
  /** Name of the RDMA device. */
  readonly device: string
  /** Interfaces with their own port; two for bonded ports. */
  readonly ports: readonly { readonly netdev: string; readonly address: string }[]
  /** Interface with the address: the bond if there is one, otherwise the port. */
  readonly netdev: string
  /** Interfaces without a port: representors of functions. */
  readonly representors: readonly string[]
}

/** A kind of node: its hardware and topology. */
export interface NodeClass {
  readonly name: string
  readonly summary: string
  readonly gpus: readonly GpuPlace[]
  readonly nics: readonly NicPlace[]
}
