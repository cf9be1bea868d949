import { sysfsAddress } from '../pci-address.ts'

/** A GPU or a pod that an exporter or a source tells of, with every key by which views merge what is told. */
export interface Subject {
  /** What it is called in messages, and in disputes; unique. */
  readonly name: string
  /** Its own key, then those that it takes in the node. */
  readonly keys: readonly [own: string, ...more: string[]]
}

/** The labels of a GPU that views merge by. */
export interface GpuIdentity {
  readonly UUID: string
  readonly Hostname: string
  /** Index as NVML counts; empty if it is not told. */
  readonly gpu: string
  /** PCI address as NVML or sysfs spells it; empty if it is not told. */
  readonly pci_bus_id: string
}

/**
 * A GPU. Its id in views is made of node and index, its place on the bus of node and address, its values are found by
 * node and UUID: each is a key of its own. So is the node: the exporter of one of its GPUs tells of all of them.
 */
export function gpuSubject({ UUID, Hostname, gpu, pci_bus_id }: GpuIdentity): Subject {
  const own = `GPU ${UUID} of ${Hostname}`
  const address = sysfsAddress(pci_bus_id)
  const keys: [string, ...string[]] = [own, `node ${Hostname}`]
  if (gpu !== '') keys.push(`index ${gpu} of ${Hostname}`)
  if (address !== '') keys.push(addressKey(address, Hostname))
  return { name: own, keys }
}

/** The key of a place on the bus; `address` as sysfs spells it. */
export function addressKey(address: string, host: string): string {
  return `PCI device ${address} of ${host}`
}

/** A pod. */
export function podSubject(namespace: string, pod: string): Subject {
  const name = `pod ${namespace}/${pod}`
  return { name, keys: [name] }
}
