import { type Agent, agentCatalogue, isSwitchedOff, lackOfPart, podProcesses } from '@sonde/agent'
import type { AppRoutesOptions, DeviceTrouble, GpuReaderState, Params } from '@sonde/console'
import type { Loaded } from '../config/load.ts'
import { isEnabled } from './management.ts'

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
  return ofGpus.map((source) => {
    const { name, state, reason, found } = source
    const isOff = isSwitchedOff(source)
    return { name, state: isOff ? 'off' : STATES[state], reason: state === 'reading' ? found : reason }
  })
}

/** Limits of the routes of apps, by the configuration and the parameters. */
export function appLimits({ config }: Loaded, params: Params): AppRoutesOptions['limits'] {
  const { gpu_metrics_max_cells: cells } = config.agent.limits
  return () => {
    const services = Number(params.value('gpu_metrics_max_pods'))
    return { services, concurrent: Number(params.value('gpu_metrics_max_concurrent')), cells }
  }
}

/** The worst confirmed hint of each GPU of an agent, by the UUID of the GPU. */
function gpuTrouble({ hints, devices }: Agent): ReadonlyMap<string, DeviceTrouble> {
  const trouble = new Map<string, DeviceTrouble>()
  for (const { device, severity, stage, title } of hints.answer().hints) {
    const { kind, labels } = devices.byId(device) ?? {}
    const { UUID } = labels ?? {}
    if (kind !== 'gpu' || UUID === undefined || severity === 'notice' || stage !== 'standing') continue
    // The worst hint comes first.
    if (!trouble.has(UUID)) trouble.set(UUID, { severity, title })
  }
  return trouble
}

/** The names of the node of an agent; undefined if it reads exporters, which may be on any node. */
function nodesOf({ node, sources, options }: Agent): ReadonlySet<string> | undefined {
  if (sources.some(({ definition }) => definition.name === 'dcgm_exporter')) return undefined
  const named = options.config.dataSources.flatMap(({ options: given }) => {
    const { node_name: name } = given as { readonly node_name?: unknown }
    return typeof name === 'string' && name !== '' ? [name] : []
  })
  return new Set([node, process.env.NODE_NAME ?? node, ...named])
}

/** Options of the routes of apps for an agent. */
export function appOrigin(agent: Agent, params: Params): Required<Omit<AppRoutesOptions, 'limits'>> {
  const catalogue = agentCatalogue(agent)
  const isReading = ({ definition, state }: Agent['sources'][number]) =>
    definition.name === 'kube_state_metrics' && state === 'reading'
  return {
    history: agent.history,
    place: 'agent',
    isEnabled: () => isEnabled(params),
    readers: () => gpuReaders(agent),
    details: () => agent.pods.details(),
    trouble: () => gpuTrouble(agent),
    nodes: () => nodesOf(agent),
    processes: (pod) => podProcesses(agent, pod),
    lackOf: (part) => lackOfPart(agent, part),
    readsRequests: () => agent.sources.some(isReading),
    latest: (metric) => catalogue.series({ metric }),
  }
}
