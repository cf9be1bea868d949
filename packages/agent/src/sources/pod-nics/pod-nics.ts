import { readlinkSync } from 'node:fs'
import { ETHTOOL_MODULE } from '../../places.ts'
import { ethtoolLibrary } from '../ethtool/library.ts'
import type { Probe, SourceDefinition, SourcePaths } from '../source.ts'
import { type PodNicsOptions, podNicsOptions } from './config.ts'
import { podNicType } from './type.ts'

/** Default time between two lists of namespaces. Unit: milliseconds. */
const INTERVAL_MS = 10_000

/**
 * Registry row of the pod_nics source. It runs only if the configuration names it, because it enters the network
 * namespaces of containers.
 */
export const podNics: SourceDefinition = {
  name: 'pod_nics',
  summary: 'Network interfaces of pods, with their adapters, RDMA devices and representors',
  types: [podNicType],
  host: 'ethtool',
  module: ETHTOOL_MODULE,
  intervalMs: INTERVAL_MS,
  options: podNicsOptions,
  isOnRequest: true,
  look: (_options, paths) => lookAt(paths),
  takesPodNames: true,
  async load() {
    const { PodNicsSource } = await import('./source.ts')
    return {
      library: ethtoolLibrary(),
      create: (options, context) => new PodNicsSource(options as PodNicsOptions, context),
    }
  },
}

/** Whether procfs has network namespaces. */
export function lookAt({ procfs }: SourcePaths): Probe {
  const path = `${procfs}/self/ns/net`
  try {
    return { state: 'present', found: readlinkSync(path) }
  } catch {
    return { state: 'absent', reason: `${path} does not exist: the kernel has no network namespaces` }
  }
}
