import type { Labels } from '@sonde/sdk'
import { labelOf, type ScrapedSeries } from '@sonde/sdk/internal'
import { firstOf, podLabelsOf } from '../pods/labels.ts'

/**
 * What a series of kube-state-metrics says of a pod: `container` and `init` are GPUs that one of its containers asks
 * for, `started` is when it started, `finished` that its phase is one of the ends, `labels` and `info` say it in
 * labels.
 */
export type PodFact = 'container' | 'init' | 'started' | 'finished' | 'labels' | 'info'

/** A series that is about a pod. */
export interface PodSeries {
  readonly fact: PodFact
  /** Tells a pod from one of the same name before it. */
  readonly key: string
  readonly namespace: string
  readonly pod: string
  readonly node: string
  readonly app: string
  readonly service: string
}

/** GPUs as Kubernetes names them, spelled as kube-state-metrics does: whole, shared, and MIG instances. */
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

/** Whether a metric is one of which kube-state-metrics has a series for every cluster with pods. */
export function isOfPods(metric: string): boolean {
  return FACTS.has(metric)
}

/**
 * What a series says of a pod; undefined if that is nothing of interest.
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
    app: fact === 'labels' ? firstOf(labels, ['label_app', 'label_app_kubernetes_io_name']) : '',
    service: fact === 'labels' ? labelOf(labels, 'label_service') : '',
  }
}

function isTold(fact: PodFact, labels: Labels): boolean {
  if (fact === 'container' || fact === 'init') return GPU_RESOURCE.test(labelOf(labels, 'resource'))
  return fact !== 'finished' || ENDS.has(labelOf(labels, 'phase'))
}
