import { objectAt, objectsAt, quantityFrom, textAt } from './json.ts'

/** The state of a pod in the API server, as far as Sonde uses it. */
export interface ApiPod {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** Name of its node; empty while it has none. */
  readonly node: string
  /** The wanted labels that it has. */
  readonly labels: Readonly<Record<string, string>>
  /** `Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`; empty if the API server does not say it. */
  readonly phase: string
  /** When the kubelet accepted it. Unit: seconds since the Unix epoch. */
  readonly startedS: number | undefined
  /** GPUs, or MIG instances, that its containers ask for. */
  readonly requestedGpus: number
  /** Why it does not run yet, such as `ImagePullBackOff`; empty if nothing waits. */
  readonly waiting: string
}

/** Which parts of a pod are kept. */
export interface ApiPodOptions {
  readonly labels: ReadonlySet<string>
  readonly isGpu: (resource: string) => boolean
}

/** Names of pods and namespaces in Kubernetes. */
const NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/
const WORD = /^[A-Za-z0-9:_.-]{1,64}$/
/** Kubernetes allows 63. Unit: characters. */
const LABEL_LENGTH_MAX = 63
const CONTAINERS_MAX = 256

/** Reads the JSON of a pod; undefined if it has no valid name. */
export function apiPodOf(pod: unknown, { labels: wanted, isGpu }: ApiPodOptions): ApiPod | undefined {
  const metadata = objectAt(pod, 'metadata')
  const [spec, status] = [objectAt(pod, 'spec'), objectAt(pod, 'status')]
  const [namespace, name] = [textAt(metadata, 'namespace'), textAt(metadata, 'name')]
  if (!NAME.test(namespace) || !NAME.test(name)) return undefined
  const labels: Record<string, string> = {}
  const given = objectAt(metadata, 'labels')
  for (const label of wanted) {
    const value = textAt(given, label)
    if (value !== '' && value.length <= LABEL_LENGTH_MAX) labels[label] = value
  }
  const startedMs = Date.parse(textAt(status, 'startTime'))
  const requestOf = (container: unknown) => gpusOf(container, isGpu)
  const containers = listIn(spec, 'containers').reduce((sum: number, container) => sum + requestOf(container), 0)
  // Init containers run one after another before the others, so their largest request counts.
  const init = Math.max(0, ...listIn(spec, 'initContainers').map(requestOf))
  return {
    ...{ namespace, name, labels },
    uid: textAt(metadata, 'uid').slice(0, 64),
    node: textAt(spec, 'nodeName').slice(0, 253),
    phase: word(textAt(status, 'phase')),
    startedS: Number.isNaN(startedMs) ? undefined : startedMs / 1000,
    requestedGpus: Math.max(containers, init),
    waiting: waitingIn(status),
  }
}

/** GPUs in the limits of a container; a request without a limit is not allowed for them. */
function gpusOf(container: unknown, isGpu: (resource: string) => boolean): number {
  return gpusIn(objectAt(objectAt(container, 'resources'), 'limits'), isGpu)
}

/** GPUs, or MIG instances, in a list of quantities by resource. */
export function gpusIn(quantities: Readonly<Record<string, unknown>>, isGpu: (resource: string) => boolean): number {
  let sum = 0
  for (const [resource, quantity] of Object.entries(quantities)) {
    const count = quantityFrom(quantity)
    if (isGpu(resource) && count !== undefined && Number.isInteger(count) && count > 0 && count < 65_536) sum += count
  }
  return sum
}

/** The reason of the first container that waits, or of the scheduler. */
function waitingIn(status: Readonly<Record<string, unknown>>): string {
  for (const list of ['initContainerStatuses', 'containerStatuses']) {
    for (const container of listIn(status, list)) {
      const reason = word(textAt(objectAt(objectAt(container, 'state'), 'waiting'), 'reason'))
      if (reason !== '') return reason
    }
  }
  for (const condition of listIn(status, 'conditions')) {
    if (textAt(condition, 'type') === 'PodScheduled' && textAt(condition, 'status') === 'False')
      return word(textAt(condition, 'reason'))
  }
  return ''
}

function listIn(object: Readonly<Record<string, unknown>>, key: string): readonly Readonly<Record<string, unknown>>[] {
  return objectsAt(object, key).slice(0, CONTAINERS_MAX)
}

function word(text: string): string {
  return WORD.test(text) ? text : ''
}
