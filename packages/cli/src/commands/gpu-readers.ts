import type { Agent } from '@sonde/agent'
import type { AppRoutesOptions, GpuReader } from '@sonde/console'
import type { Loaded } from '../config/load.ts'

/** Record types that a source of GPUs reports. */
const GPU_TYPES: readonly string[] = ['nvml_gpu', 'nvml_profile']

const STATES: Readonly<Record<Agent['sources'][number]['state'], GpuReader['state']>> = {
  starting: 'starting',
  reading: 'reading',
  absent: 'empty',
  denied: 'failing',
  starved: 'failing',
  stuck: 'failing',
  failed: 'failing',
}

/** What of an agent reads GPUs, and how it fares. */
export function gpuReaders({ sources }: Agent): GpuReader[] {
  const ofGpus = sources.filter(({ definition }) => definition.types.some(({ name }) => GPU_TYPES.includes(name)))
  return ofGpus.map(({ name, state, reason }) => ({ name, state: STATES[state], reason }))
}

/** What the routes of apps answer at most, as it is configured. */
export function appLimits({ config }: Loaded): AppRoutesOptions['limits'] {
  const { gpu_metrics_max_pods, gpu_metrics_max_concurrent, gpu_metrics_max_cells } = config.agent.limits
  return { services: gpu_metrics_max_pods, concurrent: gpu_metrics_max_concurrent, cells: gpu_metrics_max_cells }
}

/** What routes are told of what an agent reads of GPUs. */
export function gpuSources(agent: Agent): Required<Pick<AppRoutesOptions, 'readers' | 'readsRequests'>> {
  const isReading = ({ definition, state }: Agent['sources'][number]) =>
    definition.name === 'kube_state_metrics' && state === 'reading'
  return { readers: () => gpuReaders(agent), readsRequests: () => agent.sources.some(isReading) }
}
