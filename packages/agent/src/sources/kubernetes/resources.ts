import { isPciAddress } from '../pod-nics/functions.ts'

const GPUS: ReadonlySet<string> = new Set(['nvidia.com/gpu', 'nvidia.com/gpu.shared', 'gpu.nvidia.com'])
const MIG = 'nvidia.com/mig-'
/** Prefix of the plugin that shares RDMA devices, and drivers of claims. */
const RDMA = 'rdma/'
const NIC_DRIVERS: ReadonlySet<string> = new Set(['dra.net', 'sriovnetwork.k8snetworkplumbingwg.io'])
/** A scalable function of mlx5, as the SR-IOV plugin names it. */
const AUXILIARY = /^[a-z0-9_]{1,32}\.sf\.\d{1,6}$/

/**
 * Returns a function that says whether a resource of a device plugin, or a driver of claims, is one of GPUs.
 *
 * @param more Further names, from the configuration.
 */
export function gpuResources(more: readonly string[]): (resource: string) => boolean {
  const names = new Set([...GPUS, ...more])
  return (resource) => names.has(resource) || resource.startsWith(MIG) || names.has(resource.replace(/\.shared$/, ''))
}

/** Whether a text is the name of a scalable function on the auxiliary bus. */
export function isAuxiliaryName(id: string): boolean {
  return AUXILIARY.test(id)
}

/**
 * Returns a function that says whether a device may be one of a NIC. Administrators choose the names of resources, so
 * the id decides: the SR-IOV plugin names functions by their PCI address. Only sysfs says whether that is a NIC.
 *
 * @param more Further names of resources and drivers, from the configuration.
 */
export function nicResources(more: readonly string[]): (resource: string, id: string) => boolean {
  const names = new Set([...NIC_DRIVERS, ...more])
  return (resource, id) => names.has(resource) || resource.startsWith(RDMA) || isPciAddress(id) || isAuxiliaryName(id)
}
