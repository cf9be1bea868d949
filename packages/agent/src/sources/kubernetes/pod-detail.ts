import { type ApiPod, type ApiPodOptions, apiPodOf } from './api-pod.ts'
import { isObject, objectAt, objectsAt, textAt } from './json.ts'

/** A program of the cluster on which the numbers of pods depend. */
export type Component = 'exporter' | 'device plugin'

/** The state of a pod, with what explains why it does not work. */
export interface PodDetail extends ApiPod {
  readonly component: Component | undefined
  /** Whether all its containers are ready. */
  readonly isReady: boolean
  readonly restarts: number
  /** How a container ended the last time, such as `OOMKilled, exit code 137`; empty if none did. */
  readonly ended: string
  /** The sentence of the scheduler or of the kubelet; empty if there is none. */
  readonly message: string
  /** Whether it asks for devices by a claim. */
  readonly claims: boolean
  /** Labels that its node must have. */
  readonly nodeSelector: Readonly<Record<string, string>>
  /** Name of the node for which a DaemonSet made it; empty if none did. */
  readonly madeFor: string
  /** Name of the DaemonSet that made it; empty if none did. */
  readonly daemonSet: string
  /** Address in the network of the cluster; empty while it has none. */
  readonly ip: string
}

/** Labels by which the charts of NVIDIA, the static manifests and GKE mark their pods. */
export const COMPONENT_LABELS: Readonly<Record<Component, Readonly<Record<string, readonly string[]>>>> = {
  exporter: {
    app: ['nvidia-dcgm-exporter', 'dcgm-exporter'],
    'app.kubernetes.io/name': ['dcgm-exporter'],
  },
  'device plugin': {
    app: ['nvidia-device-plugin-daemonset', 'nvidia-device-plugin'],
    'app.kubernetes.io/name': ['nvidia-device-plugin'],
    name: ['nvidia-device-plugin-ds'],
    'k8s-app': ['nvidia-gpu-device-plugin'],
  },
}

/** Longest sentence of the other end. Unit: characters. */
const MESSAGE_LENGTH_MAX = 200
/** Labels of one object that are read. */
const LABELS_MAX = 1000

/** Reads the JSON of a pod; undefined if it has no valid name. */
export function podDetailOf(pod: unknown, options: ApiPodOptions): PodDetail | undefined {
  const known = apiPodOf(pod, options)
  if (known === undefined) return undefined
  const [metadata, spec, status] = [objectAt(pod, 'metadata'), objectAt(pod, 'spec'), objectAt(pod, 'status')]
  const containers = objectsAt(status, 'containerStatuses')
  const last = containers.map((container) => objectAt(objectAt(container, 'lastState'), 'terminated'))
  const unmet = objectsAt(status, 'conditions').find((condition) => textAt(condition, 'status') === 'False')
  return {
    ...known,
    component: componentOf(objectAt(metadata, 'labels')),
    isReady: containers.length > 0 && containers.every(({ ready }) => ready === true),
    restarts: containers.reduce((sum, { restartCount: count }) => sum + (typeof count === 'number' ? count : 0), 0),
    ended: last.map(endWords).find((words) => words !== '') ?? '',
    message: textAt(unmet, 'message').slice(0, MESSAGE_LENGTH_MAX),
    claims: objectsAt(spec, 'resourceClaims').length > 0,
    nodeSelector: textsIn(objectAt(spec, 'nodeSelector')),
    madeFor: madeFor(spec),
    daemonSet: textAt(
      objectsAt(metadata, 'ownerReferences').find((owner) => textAt(owner, 'kind') === 'DaemonSet'),
      'name',
    ).slice(0, 253),
    ip: textAt(status, 'podIP').slice(0, 64),
  }
}

/** The component whose pods have these labels; undefined if it is none. */
export function componentOf(labels: unknown): Component | undefined {
  return (Object.keys(COMPONENT_LABELS) as Component[]).find((component) =>
    Object.entries(COMPONENT_LABELS[component]).some(([label, values]) => values.includes(textAt(labels, label))),
  )
}

function endWords(terminated: Readonly<Record<string, unknown>>): string {
  const { exitCode } = terminated
  const code = typeof exitCode === 'number' ? `exit code ${exitCode}` : ''
  return [textAt(terminated, 'reason').slice(0, 64), code].filter(Boolean).join(', ')
}

/** A DaemonSet binds each of its pods to a node by the name of the node. */
function madeFor(spec: unknown): string {
  const required = 'requiredDuringSchedulingIgnoredDuringExecution'
  const affinity = objectAt(objectAt(objectAt(spec, 'affinity'), 'nodeAffinity'), required)
  for (const term of objectsAt(affinity, 'nodeSelectorTerms')) {
    for (const field of objectsAt(term, 'matchFields')) {
      const [value] = Array.isArray(field.values) ? field.values : []
      if (textAt(field, 'key') === 'metadata.name' && typeof value === 'string') return value.slice(0, 253)
    }
  }
  return ''
}

/** The texts of an object, such as its labels. */
export function textsIn(object: unknown): Readonly<Record<string, string>> {
  const entries = isObject(object) ? Object.entries(object) : []
  const texts = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  return Object.fromEntries(texts.slice(0, LABELS_MAX))
}
