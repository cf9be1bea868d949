import type { Labels } from '@sonde/sdk'
import { labelOf, labelSpelling, type PodApp, podAppOf } from '@sonde/sdk/internal'

/** The container that a series was copied for, with properties of its pod. */
export interface PodLabels extends PodApp {
  readonly namespace: string
  readonly pod: string
  readonly container: string
  /** Whether it is a job of a batch system and no pod. */
  readonly isJob: boolean
}

/** The first nonempty label of several names; empty if there is none. */
export function firstOf(labels: Labels, names: readonly string[]): string {
  for (const name of names) {
    const text = labelOf(labels, name)
    if (text !== '') return text
  }
  return ''
}

/** Whether a Prometheus without `honor_labels` renamed the labels: then `pod` is the pod of the exporter. */
export function isRenamed(labels: Labels): boolean {
  return ['exported_pod', 'exported_namespace', 'exported_container'].some((name) => labelOf(labels, name) !== '')
}

/**
 * The pod that a series was copied for; undefined if there is none, as for an idle GPU.
 *
 * @param renamed Whether any series of the body {@link isRenamed}.
 */
export function podLabelsOf(labels: Labels, renamed: boolean): PodLabels | undefined {
  const names = (name: string, old: string) => (renamed ? [`exported_${name}`] : [name, old])
  const pod = firstOf(labels, names('pod', 'pod_name'))
  const namespace = firstOf(labels, names('namespace', 'pod_namespace'))
  if (pod === '' || namespace === '') return jobLabelsOf(labels)
  return {
    isJob: false,
    namespace,
    pod,
    container: firstOf(labels, names('container', 'container_name')),
    ...podAppOf((name) => firstOf(labels, spellingsOf(labelSpelling(name), renamed))),
  }
}

/** The job that a series was copied for, as pods are named. */
function jobLabelsOf(labels: Labels): PodLabels | undefined {
  const pod = labelOf(labels, 'hpc_job')
  if (pod === '') return undefined
  const decided = { app: 'job', service: '', appLabel: 'hpc_job', serviceLabel: '' }
  return { namespace: '@job', pod, container: '', ...decided, isJob: true }
}

/**
 * How exporters spell a label of a pod. Prometheus renames a label that the target has too, which is usual for
 * `service`: then the label without the prefix is that of the exporter.
 */
function spellingsOf(name: string, renamed: boolean): string[] {
  const own = renamed && name === 'service' ? [] : [name]
  return [...(renamed ? [`exported_${name}`] : []), ...own, `label_${name}`]
}
