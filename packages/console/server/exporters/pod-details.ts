import type { GpuOfPod, PodDetails } from '@sonde/sdk/api'
import { namespacedName, type SeriesAnswer } from '@sonde/sdk/internal'
import type { Grain } from '../prometheus/expressions.ts'
import { CLUSTER_METRICS, clusterExpression, heldExpression, infoExpression } from './expressions.ts'
import { isThere } from './gpu-columns.ts'
import type { PodColumns } from './pod-columns.ts'

/** Origins of devices. An agent knows more; its series say only which pod holds which device. */
const OF_AGENTS = 'pod_device_present of an agent'
const OF_EXPORTERS = 'scrape labels of dcgm-exporter'

/** The expressions that {@link detailsOf} reads, in their order. */
export function detailExpressions(grain: Grain) {
  return [
    { metric: 'pod_info', expression: infoExpression(grain) },
    { metric: 'pod_device_present', expression: heldExpression(grain) },
    ...(['node', 'phase', 'reason'] as const).map((fact) => ({
      metric: CLUSTER_METRICS[fact],
      expression: clusterExpression(fact, grain),
    })),
  ]
}

interface Known {
  node: string
  phase: string
  waiting: string
  gpus: GpuOfPod[]
}

/**
 * Node, devices and state of pods, from series of agents, of exporters and of kube-state-metrics, by `namespacedName`.
 *
 * @param pods Pods with their devices from the series of exporters; none if agents report devices.
 */
export function detailsOf(
  series: readonly (readonly SeriesAnswer[])[],
  pods: Iterable<PodColumns>,
): ReadonlyMap<string, PodDetails> {
  const [infos = [], held = [], nodes = [], phases = [], reasons = []] = series
  const known = new Map<string, Known>()
  const of = (namespace = '', pod = '') => {
    const key = namespacedName(namespace, pod)
    const one = known.get(key) ?? { node: '', phase: '', waiting: '', gpus: [] }
    known.set(key, one)
    return one
  }
  for (const { labels } of nodes) of(labels.namespace, labels.pod).node = labels.node ?? ''
  for (const { labels } of infos) if (labels.node_name) of(labels.namespace, labels.pod).node = labels.node_name
  for (const { labels } of phases) of(labels.namespace, labels.pod).phase = labels.phase ?? ''
  for (const { labels } of reasons) of(labels.namespace, labels.pod).waiting = labels.reason ?? ''
  for (const { labels } of held) {
    const { Hostname = '', UUID = '', GPU_I_ID = '' } = labels
    of(labels.namespace, labels.pod).gpus.push(gpuFrom(OF_AGENTS, [Hostname, UUID, GPU_I_ID]))
  }
  for (const { workload, gpus } of pods) {
    for (const [{ host, uuid, instance }, columns] of gpus)
      if (isThere(columns, 0))
        of(workload.namespace, workload.pod).gpus.push(gpuFrom(OF_EXPORTERS, [host, uuid, instance]))
  }
  return new Map([...known].map(([key, one]) => [key, withAttribution(one)]))
}

function gpuFrom(via: string, [host, uuid, instance]: readonly [string, string, string]): GpuOfPod {
  return { host, uuid, instance, via, confidence: 'likely', doubt: '', resource: '' }
}

function withAttribution({ node, phase, waiting, gpus }: Known): PodDetails {
  const from = [...new Set(gpus.map(({ via }) => via))]
  const labels = { appLabel: '', serviceLabel: '', labelsFrom: '' }
  const confidence = gpus.length === 0 ? null : 'likely'
  return { node, gpus, attribution: { confidence, from, ...labels, phase, waiting, notes: [] } }
}
