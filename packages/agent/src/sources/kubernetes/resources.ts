const GPUS: ReadonlySet<string> = new Set(['nvidia.com/gpu', 'nvidia.com/gpu.shared', 'gpu.nvidia.com'])
const MIG = 'nvidia.com/mig-'

/**
 * Returns a function that says whether a resource of a device plugin, or a driver of claims, is one of GPUs.
 *
 * @param more Further names, from the configuration.
 */
export function gpuResources(more: readonly string[]): (resource: string) => boolean {
  const names = new Set([...GPUS, ...more])
  return (resource) => names.has(resource) || resource.startsWith(MIG) || names.has(resource.replace(/\.shared$/, ''))
}
