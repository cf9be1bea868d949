/** A kind of GPU. */
export interface GpuModel {
  readonly name: string
  readonly productId: string
  readonly powerLimitWatts: number
  readonly powerLimitMinWatts: number
  /** Power without and with a process that does nothing. Unit: watts. */
  readonly idleWatts: number
  readonly contextWatts: number
  /** Memory as NVML tells it, and what of it the driver keeps. Unit: MiB. */
  readonly memoryMiB: number
  readonly reservedMiB: number
  readonly smCount: number
  readonly smClockMHz: number
  readonly memoryClockMHz: number
  /** 0 if there is no NVLink. Unit of the speed: bytes a second and direction, all links. */
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
  /** Bits a second on the lanes of a port, error correction included. */
  readonly rawBitsPerS: number
  readonly signalling: string
  readonly pcieGeneration: number
  readonly hasDpa: boolean
}

/** Where a device is plugged in. */
export interface PciPlace {
  readonly address: string
  /** Bridges from the root port to just above the device. */
  readonly path: readonly string[]
  readonly numaNode: number
}

/** Address of a device without its function: what shares it shares a link. */
export function slotOf({ address }: PciPlace): string {
  return address.replace(/\.\d$/, '')
}

/** A GPU of a node. */
export interface GpuPlace extends PciPlace {
  readonly index: number
  readonly model: GpuModel
  /** MIG instances, where the GPU is split for good; `load` is the share of its slice that an instance uses. */
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
  /** Interfaces with a port of their own; two where ports are bonded. */
  readonly ports: readonly { readonly netdev: string; readonly address: string }[]
  /** Interface that has the address: the bond, else the port. */
  readonly netdev: string
  /** Interfaces without a port: representors of functions. */
  readonly representors: readonly string[]
}

/** A kind of node: what hardware it has, and how it is wired. */
export interface NodeClass {
  readonly name: string
  readonly summary: string
  readonly gpus: readonly GpuPlace[]
  readonly nics: readonly NicPlace[]
}
