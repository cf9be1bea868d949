import { sysfsAddress } from '../pci-address.ts'

/** A GPU or a pod that an exporter or a source reports, with every key by which views merge records. */
export interface Subject {
  /** Unique name for messages and disputes. */
  readonly name: string
  /** The subject's own key, then its other keys in the node. */
  readonly keys: readonly [own: string, ...more: string[]]
}

/** The labels by which views merge records of a GPU. */
export interface GpuIdentity {
  readonly UUID: string
  readonly Hostname: string
  /** NVML index; empty if unknown. */
  readonly gpu: string
  /** PCI address as NVML or sysfs writes it; empty if unknown. */
  readonly pci_bus_id: string
}

/**
 * Keys of a GPU. Views identify a GPU by node and index, find its bus address by node and address, and find its values
 * by node and UUID: each is a key. The node is also a key, because one exporter reports all GPUs of a node.
 */
export function gpuSubject({ UUID, Hostname, gpu, pci_bus_id }: GpuIdentity): Subject {
  const own = `GPU ${UUID} of ${Hostname}`
  const address = sysfsAddress(pci_bus_id)
  const keys: [string, ...string[]] = [own, `node ${Hostname}`]
  if (gpu !== '') keys.push(`index ${gpu} of ${Hostname}`)
  if (address !== '') keys.push(addressKey(address, Hostname))
  return { name: own, keys }
}

/** Key of a PCI address; `address` as sysfs writes it. */
export function addressKey(address: string, host: string): string {
  return `PCI device ${address} of ${host}`
}

/** A pod. */
export function podSubject(namespace: string, pod: string): Subject {
  const name = `pod ${namespace}/${pod}`
  return { name, keys: [name] }
}
