import { objectAt, quantityFrom, textAt } from './json.ts'
import { type Component, componentOf, textsIn } from './pod-detail.ts'

/** A DaemonSet that runs a component on the nodes that it selects. */
export interface DaemonSetDetail {
  readonly namespace: string
  readonly name: string
  readonly component: Component
  /** Nodes that should have a pod; undefined if the server does not say it. */
  readonly desired: number | undefined
  /** Nodes whose pod is ready; undefined if the server does not say it. */
  readonly ready: number | undefined
  /** Labels that a node must have. */
  readonly nodeSelector: Readonly<Record<string, string>>
}

/** Reads the JSON of a DaemonSet; undefined if it runs no component. Static manifests label only its pods. */
export function daemonSetOf(daemonSet: unknown): DaemonSetDetail | undefined {
  const [metadata, status] = [objectAt(daemonSet, 'metadata'), objectAt(daemonSet, 'status')]
  const template = objectAt(objectAt(daemonSet, 'spec'), 'template')
  const component = componentOf(objectAt(objectAt(template, 'metadata'), 'labels'))
  if (component === undefined) return undefined
  return {
    namespace: textAt(metadata, 'namespace').slice(0, 63),
    name: textAt(metadata, 'name').slice(0, 253),
    component,
    desired: quantityFrom(status.desiredNumberScheduled),
    ready: quantityFrom(status.numberReady),
    nodeSelector: textsIn(objectAt(objectAt(template, 'spec'), 'nodeSelector')),
  }
}
