import type { Labels } from '@sonde/sdk'
import { labelSpelling, podAppOf, type SeriesAnswer } from '@sonde/sdk/internal'

/** The pod of a GPU series. */
export interface PodWorkload {
  readonly namespace: string
  readonly pod: string
  readonly app: string
  readonly service: string
}

/** Labels of the target itself. */
type Own = Partial<Record<string, ReadonlySet<string>>>

/** Labels of targets, by job and instance. */
export type Targets = ReadonlyMap<string, Own>

/** Reads the labels of targets from `up`. */
export function scrapeTargets(up: readonly SeriesAnswer[]): Targets {
  const targets = new Map<string, Record<string, Set<string>>>()
  for (const { labels } of up) {
    const own = targets.get(targetKey(labels)) ?? { pod: new Set(), app: new Set(), service: new Set() }
    targets.set(targetKey(labels), own)
    for (const [name, values] of Object.entries(own)) if (labels[name]) values.add(labels[name])
  }
  return targets
}

/**
 * The pod of a series; undefined if there is none, as for an idle GPU. It works for either value of `honor_labels`: a
 * label that Prometheus renamed belongs to the workload, and a label that the target itself has belongs to the
 * exporter.
 */
export function workloadOf(labels: Labels, targets: Targets): PodWorkload | undefined {
  const own = targets.get(targetKey(labels)) ?? {}
  const of = (name: string, ...others: readonly string[]) => {
    const value = labels[name] ?? ''
    const isOwn = own[name]?.has(value) ?? false
    return first(labels[`exported_${name}`], isOwn ? '' : value, ...others.map((other) => labels[other]))
  }
  const pod = of('pod', 'pod_name')
  const namespace = first(labels.exported_namespace, labels.pod_namespace, labels.namespace)
  if (pod === '' || namespace === '') return undefined
  const { app, service } = podAppOf((name) => of(labelSpelling(name)))
  return { namespace, pod, app, service }
}

function first(...texts: readonly (string | undefined)[]): string {
  return texts.find((text) => text !== undefined && text !== '') ?? ''
}

function targetKey({ job = '', instance = '' }: Labels): string {
  return JSON.stringify([job, instance])
}
