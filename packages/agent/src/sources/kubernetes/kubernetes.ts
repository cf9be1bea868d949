import { statSync } from 'node:fs'
import { KUBERNETES_MODULE } from '../../places.ts'
import { podDeviceType, podInfoType, podNicDeviceType } from '../pods/type.ts'
import type { LibraryDefinition, Probe, SourceDefinition } from '../source.ts'
import { INTERVAL_MS, type KubernetesOptions, kubernetesOptions } from './config.ts'

/** The clients of kubelet and API server. They run in a child, so that their memory and faults cost nothing else. */
const library: LibraryDefinition<undefined> = {
  name: 'kubernetes',
  parallel: Number.POSITIVE_INFINITY,
  open: () => undefined,
  close: () => undefined,
}

/** Registry row of the kubernetes source: it runs where a kubelet has its socket. */
export const kubernetes: SourceDefinition = {
  name: 'kubernetes',
  summary: 'Pods of this node with their GPUs and NICs, from the kubelet and the API server',
  types: [podInfoType, podDeviceType, podNicDeviceType],
  host: 'kubernetes',
  module: KUBERNETES_MODULE,
  intervalMs: INTERVAL_MS,
  options: kubernetesOptions,
  look: (options) => lookForSocket((options as KubernetesOptions).kubelet_socket),
  takesGpuNames: true,
  async load() {
    const { KubernetesSource } = await import('./source.ts')
    return { library, create: (options, context) => new KubernetesSource(options as KubernetesOptions, context) }
  },
}

/** Whether the kubelet has its socket. */
export function lookForSocket(path: string): Probe {
  try {
    if (statSync(path).isSocket()) return { state: 'present', found: path }
    return { state: 'absent', reason: `${path} is not a socket; kubelet_socket names that of the kubelet` }
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'EACCES' || code === 'EPERM')
      return { state: 'denied', reason: `${path} may not be read; run Sonde as root, or mount the folder into its pod` }
    return { state: 'absent', reason: `no kubelet: ${path} does not exist; in a pod, mount its folder` }
  }
}

/**
 * The sources of the child process.
 *
 * @public
 */
export const SOURCES: readonly SourceDefinition[] = [kubernetes]
