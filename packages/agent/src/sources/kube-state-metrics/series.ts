import type { Labels } from '@sonde/sdk'
import { labelOf, labelSpelling, type PodApp, podAppOf, type ScrapedSeries } from '@sonde/sdk/internal'
import { firstOf, podLabelsOf } from '../pods/labels.ts'

/**
 * Meaning of a series for a pod. `container` and `init`: GPUs that one of its containers requests; `started`: the start
 * time; `finished`: the phase is one of the final phases; `labels` and `info`: facts in the labels.
 */
export type PodFact = 'container' | 'init' | 'started' | 'finished' | 'labels' | 'info'

/** A series that describes a pod. */
export interface PodSeries extends PodApp {
  readonly fact: PodFact
  /** Distinguishes a pod from an earlier pod with the same name. */
  readonly key: string
  readonly namespace: string
  readonly pod: string
  readonly node: string
}

/** GPU resources of Kubernetes as kube-state-metrics spells them: whole GPUs, shared GPUs and MIG instances. */
const GPU_RESOURCE = /^nvidia_com_(gpu(_shared)?|mig_.+)$/
const ENDS: ReadonlySet<string> = new Set(['Succeeded', 'Failed'])

const FACTS: ReadonlyMap<string, PodFact> = new Map([
  ['kube_pod_container_resource_requests', 'container'],
  ['kube_pod_init_container_resource_requests', 'init'],
  ['kube_pod_start_time', 'started'],
  ['kube_pod_status_phase', 'finished'],
  ['kube_pod_labels', 'labels'],
  ['kube_pod_info', 'info'],
])

/** Whether kube-state-metrics has this metric in every cluster with pods. */
export function isOfPods(metric: string): boolean {
  return FACTS.has(metric)
}

/**
 * Parses a series about a pod; undefined if the series is not used.
 *
 * @param renamed Whether a Prometheus without `honor_labels` renamed the labels of the body.
 */
export function podSeriesOf({ name, labels }: ScrapedSeries, renamed: boolean): PodSeries | undefined {
  const fact = FACTS.get(name)
  if (fact === undefined || !isTold(fact, labels)) return undefined
  const pod = podLabelsOf(labels, renamed)
  if (pod === undefined) return undefined
  return {
    fact,
    key: JSON.stringify([pod.namespace, pod.pod, labelOf(labels, 'uid')]),
    namespace: pod.namespace,
    pod: pod.pod,
    node: firstOf(labels, renamed ? ['exported_node', 'node'] : ['node']),
    ...podAppOf((name) => (fact === 'labels' ? labelOf(labels, `label_${labelSpelling(name)}`) : '')),
  }
}

function isTold(fact: PodFact, labels: Labels): boolean {
  if (fact === 'container' || fact === 'init') return GPU_RESOURCE.test(labelOf(labels, 'resource'))
  return fact !== 'finished' || ENDS.has(labelOf(labels, 'phase'))
}
