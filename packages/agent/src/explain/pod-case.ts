import type { Labels } from '@sonde/sdk'
import type { GpuAttribution } from '@sonde/sdk/api'
import { type LatestSeries, labelOf, messageOf, namespacedName } from '@sonde/sdk/internal'
import { fieldName, POD_FIELDS } from '../pods/fields.ts'
import { podGpuType } from '../pods/type.ts'
import { apiServerOf, nodeNameOf } from '../sources/kubernetes/cluster-address.ts'
import { ClusterView } from '../sources/kubernetes/cluster-view.ts'
import type { KubernetesOptions } from '../sources/kubernetes/config.ts'
import type { PodDetail } from '../sources/kubernetes/pod-detail.ts'
import { gpuResources } from '../sources/kubernetes/resources.ts'
import type { AgentFacts, DeviceFacts, SourceFacts } from './agent-facts.ts'
import type { ExplainOptions } from './explanation.ts'
import { SIMULATOR, type SourceSubject, subjectName } from './subject.ts'

/** Time for one answer of the API server, as for every other read of a walk. Unit: milliseconds. */
const API_LIMIT_MS = 2000
/** The type of the numbers of a GPU, by which its readers are found. */
const GPU_TYPE = 'nvml_gpu'
const KUBERNETES = 'kubernetes'

/** Metrics of the nine numbers of a pod. */
export const NINE_METRICS: ReadonlySet<string> = new Set(
  POD_FIELDS.map((field) => podGpuType.metrics.get(fieldName(field)) ?? ''),
)

/** The name of a pod. */
export interface AskedPod {
  readonly namespace: string
  readonly name: string
}

/** What is known about a pod and about the programs on which its numbers depend. */
export interface PodCase extends AskedPod {
  /** Name of this node in Kubernetes. */
  readonly nodeName: string
  /** Undefined if the API server is not read, or does not answer; then `fault` is the reason. */
  readonly cluster: ClusterView | undefined
  readonly fault: string
  /** The pod in the API server; undefined if it has none of this name, or is not asked. */
  readonly pod: PodDetail | undefined
  /** The pod in the agent; undefined if the agent does not know it. */
  readonly entity: DeviceFacts | undefined
  /** How its devices and its app were decided; undefined if the agent does not know it. */
  readonly attribution: GpuAttribution | undefined
  /** Labels of the devices that it holds. */
  readonly devices: readonly Labels[]
  /** Series of `pod_gpu`. */
  readonly numbers: readonly LatestSeries[]
  /** The sources that read GPUs, as far as they run. */
  readonly readers: readonly SourceFacts[]
  /** Names of the sources that read GPUs, configured or running. */
  readonly readerNames: readonly string[]
  /** The source of kubelet and API server; undefined if it does not run. */
  readonly kubelet: SourceFacts | undefined
  /** Facts of the agent, or of one sample of each source; undefined if there are none. */
  readonly facts: AgentFacts | undefined
  readonly place: string
}

/** Whether any of the nine numbers of the pod is known. */
export function hasNumbers({ numbers }: Pick<PodCase, 'numbers'>): boolean {
  return numbers.some(({ metric, value }) => NINE_METRICS.has(metric) && value !== null)
}

/** Whether the pod runs on another node than this one. */
export function isElsewhere({ pod, nodeName }: Pick<PodCase, 'pod' | 'nodeName'>): boolean {
  return pod !== undefined && pod.node !== '' && pod.node !== nodeName
}

/** The view of the API server, by the options of the source `kubernetes`. */
export function clusterOf(subjects: readonly SourceSubject[]): { view: ClusterView | undefined; nodeName: string } {
  const config = subjects.find(({ definition }) => definition.name === KUBERNETES)?.config
  if (config === undefined) return { view: undefined, nodeName: '' }
  const options = config.options as KubernetesOptions
  const server = apiServerOf(options, API_LIMIT_MS)
  const view = server && new ClusterView(server, gpuResources(options.gpu_resources))
  return { view, nodeName: nodeNameOf(options) }
}

/** Collects the known facts of a pod. */
export async function podCase(
  { namespace, name }: AskedPod,
  subjects: readonly SourceSubject[],
  options: ExplainOptions,
): Promise<PodCase> {
  const { view, nodeName } = clusterOf(subjects)
  const { pod, fault } = await podIn(view, { namespace, name })
  const ofGpus = subjects.filter(
    ({ definition }) => definition.name !== SIMULATOR && definition.types.some((type) => type.name === GPU_TYPE),
  )
  const ofKubelet = subjects.filter(({ definition }) => definition.name === KUBERNETES)
  const facts = options.facts ?? (await trialFacts([...ofGpus, ...ofKubelet], options))
  const stateOf = (subject: SourceSubject) => facts?.source(subjectName(subject))
  const states = await Promise.all(ofGpus.map(stateOf))
  const [kubelet] = (await Promise.all(ofKubelet.map(stateOf))).filter((state) => state !== undefined)
  const known = await facts?.devices()
  const isOf = (labels: Labels) =>
    labelOf(labels, 'namespace') === namespace && labelOf(labels, 'pod') === name && labels.simulated === undefined
  const seriesOf = async (type: string) => ((await facts?.series({ type })) ?? []).filter(({ labels }) => isOf(labels))
  return {
    ...{ namespace, name, nodeName, pod, fault, facts, kubelet },
    cluster: fault === '' ? view : undefined,
    entity: known?.find(({ kind, labels, simulated }) => kind === 'pod' && isOf(labels) && !simulated),
    attribution: (await facts?.attributions?.())?.get(namespacedName(namespace, name)),
    devices: (await seriesOf('pod_device')).map(({ labels }) => labels),
    numbers: await seriesOf('pod_gpu'),
    readers: states.filter((state) => state !== undefined),
    readerNames: ofGpus.filter(({ config }, i) => config !== undefined || states[i] !== undefined).map(subjectName),
    place: options.agentPlace,
  }
}

async function podIn(view: ClusterView | undefined, { namespace, name }: AskedPod) {
  if (view === undefined) return { pod: undefined, fault: 'the API server is not read' }
  try {
    return { pod: await view.pod(namespace, name), fault: '' }
  } catch (error) {
    return { pod: undefined, fault: messageOf(error) }
  }
}

/** Takes one sample of each source if no agent runs them. */
async function trialFacts(
  subjects: readonly SourceSubject[],
  { trial }: ExplainOptions,
): Promise<AgentFacts | undefined> {
  if (trial === undefined) return undefined
  const configs = subjects.flatMap(({ config }) => (config === undefined ? [] : [config]))
  const all = await Promise.all(configs.map(trial))
  return {
    async source(name) {
      return (await Promise.all(all.map((facts) => facts.source(name)))).find((state) => state !== undefined)
    },
    series: async (wanted) => (await Promise.all(all.map((facts) => facts.series(wanted)))).flat(),
    types: async () => [],
    devices: async () => [],
  }
}
