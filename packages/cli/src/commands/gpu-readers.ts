import { type Agent, agentCatalogue } from '@sonde/agent'
import type { AppRoutesOptions, GpuReaderState } from '@sonde/console'
import type { Loaded } from '../config/load.ts'

/** Record types that sources of GPUs report. */
const GPU_TYPES: readonly string[] = ['nvml_gpu', 'nvml_profile']

const STATES: Readonly<Record<Agent['sources'][number]['state'], GpuReaderState['state']>> = {
  starting: 'starting',
  reading: 'reading',
  absent: 'empty',
  denied: 'failing',
  starved: 'failing',
  stuck: 'failing',
  failed: 'failing',
}

/** The sources of an agent that read GPUs, with their state. */
export function gpuReaders({ sources }: Agent): GpuReaderState[] {
  const ofGpus = sources.filter(({ definition }) => definition.types.some(({ name }) => GPU_TYPES.includes(name)))
  return ofGpus.map(({ name, state, reason, found }) => {
    return { name, state: STATES[state], reason: state === 'reading' ? found : reason }
  })
}

/** Limits of the routes of apps, by the configuration. */
export function appLimits({ config }: Loaded): AppRoutesOptions['limits'] {
  const { gpu_metrics_max_pods, gpu_metrics_max_concurrent, gpu_metrics_max_cells } = config.agent.limits
  return { services: gpu_metrics_max_pods, concurrent: gpu_metrics_max_concurrent, cells: gpu_metrics_max_cells }
}

/** Options of the routes of apps for an agent. */
export function appOrigin(agent: Agent): Required<Omit<AppRoutesOptions, 'limits'>> {
  const catalogue = agentCatalogue(agent)
  const isReading = ({ definition, state }: Agent['sources'][number]) =>
    definition.name === 'kube_state_metrics' && state === 'reading'
  return {
    history: agent.history,
    place: 'agent',
    readers: () => gpuReaders(agent),
    attributions: () => agent.pods.attributions(),
    readsRequests: () => agent.sources.some(isReading),
    latest: (metric) => catalogue.series({ metric }),
  }
}
