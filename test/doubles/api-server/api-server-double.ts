import { once } from 'node:events'
import { createServer as createPlain, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createSecure } from 'node:https'
import type { AddressInfo } from 'node:net'
import { DISCOVERY, isSet, selectionOf } from './api-requests.ts'

/** A pod as the API server has it. */
export interface ApiPod {
  readonly apiVersion: 'v1'
  readonly kind: 'Pod'
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly uid: string
    readonly labels: Readonly<Record<string, string>>
    readonly resourceVersion?: string
    readonly creationTimestamp?: string
  }
  readonly spec: object
  readonly status: object
}

/** Properties of {@link apiPod}. */
export interface ApiPodOptions {
  readonly labels?: Readonly<Record<string, string>>
  readonly node?: string
  readonly phase?: string
  readonly gpus?: number
  readonly startTime?: string
  readonly uid?: string
  readonly waiting?: string
  readonly namespace?: string
  readonly restarts?: number
  /** Name of the DaemonSet that made it. */
  readonly daemonSet?: string
  /** How the container ended the last time. */
  readonly lastState?: { readonly terminated: { readonly exitCode: number; readonly reason: string } }
  /** More of its specification, such as `nodeSelector`. */
  readonly spec?: object
  /** Why the scheduler found no node for it. */
  readonly unschedulable?: string
}

/** A pod with one container. */
export function apiPod(name: string, options: ApiPodOptions = {}): ApiPod {
  const { labels = {}, node = 'node-a', phase = 'Running', gpus = 1, startTime = '2026-01-01T00:00:00Z' } = options
  const {
    uid = `uid-${name}`,
    namespace = 'ml',
    waiting,
    restarts = 0,
    lastState,
    spec,
    unschedulable,
    daemonSet,
  } = options
  const state = waiting === undefined ? { running: { startedAt: startTime } } : { waiting: { reason: waiting } }
  const limits = gpus === 0 ? {} : { 'nvidia.com/gpu': String(gpus) }
  const container = { name: 'main', image: 'train:1', resources: { limits } }
  const ready = phase === 'Running' && waiting === undefined
  const status = { name: 'main', image: 'train:1', imageID: '', ready, restartCount: restarts, state, lastState }
  const reason = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: unschedulable }
  const conditions = unschedulable === undefined ? {} : { conditions: [reason] }
  const isPlaced = node !== ''
  return {
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: {
      ...{ name, namespace, uid, labels, creationTimestamp: startTime || '2026-01-01T00:00:00Z' },
      ...(daemonSet === undefined ? {} : { ownerReferences: [{ kind: 'DaemonSet', name: daemonSet }] }),
    },
    spec: { ...(isPlaced ? { nodeName: node } : {}), containers: [container], ...spec },
    status: {
      ...{ phase, ...conditions, ...(startTime === '' ? {} : { startTime }) },
      ...(isPlaced ? { containerStatuses: [status] } : {}),
    },
  }
}

/** Properties of {@link apiNode}. */
export interface ApiNodeOptions {
  readonly labels?: Readonly<Record<string, string>>
  /** GPUs that the device plugin has registered. */
  readonly gpus?: number
  /** Those of them that are healthy. Default: all. */
  readonly healthy?: number
}

/** A node with GPUs. */
export function apiNode(name: string, { labels = {}, gpus = 8, healthy = gpus }: ApiNodeOptions = {}): object {
  const quantities = (count: number) => ({ cpu: '128', ...(gpus === 0 ? {} : { 'nvidia.com/gpu': String(count) }) })
  return {
    ...{ apiVersion: 'v1', kind: 'Node' },
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
    status: { capacity: quantities(gpus), allocatable: quantities(healthy) },
  }
}

/** Properties of {@link apiDaemonSet}. */
export interface ApiDaemonSetOptions {
  readonly namespace: string
  /** Labels of its pods. */
  readonly labels: Readonly<Record<string, string>>
  readonly desired: number
  readonly ready: number
  readonly nodeSelector?: Readonly<Record<string, string>>
}

/** A DaemonSet. */
export function apiDaemonSet(name: string, options: ApiDaemonSetOptions): object {
  const { namespace, labels, desired, ready, nodeSelector } = options
  return {
    ...{ apiVersion: 'apps/v1', kind: 'DaemonSet' },
    metadata: { name, namespace },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { nodeSelector } } },
    status: { desiredNumberScheduled: desired, currentNumberScheduled: desired, numberReady: ready },
  }
}

/** Certificate and key of a server, PEM. */
export interface ServerPair {
  readonly cert: string
  readonly key: string
}

interface Watch {
  readonly response: ServerResponse
  readonly isSelected: (pod: ApiPod) => boolean
  readonly bookmarks: boolean
}

interface PodEvent {
  readonly version: number
  readonly type: string
  readonly object: ApiPod
}

/**
 * The pods and nodes of a Kubernetes API server: list with `limit` and `continue`, watch with bookmarks, selectors,
 * tokens. `kubectl` and the clients of Python and JavaScript read it like a cluster; see
 * `test/interop/kubernetes-clients.test.ts`.
 */
export class ApiServerDouble {
  address = ''
  /** Tokens that are accepted; empty: any request. */
  tokens: string[] = []
  /** Requests so far, as path and query. */
  readonly requests: string[] = []
  /** Resource slices, as `v1beta1` has them; empty: the server does not know them. */
  slices: object[] = []
  daemonSets: object[] = []
  /** Objects of KEDA; undefined: the server does not know them. */
  scaledObjects: object[] | undefined
  /** Nodes by their name. */
  readonly nodes = new Map<string, object>()
  /** Answers of a test instead of the usual ones; undefined: the usual one. */
  fault: ((url: URL, request: IncomingMessage, response: ServerResponse) => boolean) | undefined
  readonly #pods = new Map<string, ApiPod>()
  readonly #events: PodEvent[] = []
  readonly #watches = new Set<Watch>()
  /** The oldest version from which a watch may start. */
  #oldest = 0
  #version = 100

  private constructor() {}

  /** Starts a server on a free port of loopback, with TLS if a pair is given. */
  static async start(test: { after(end: () => unknown): void }, pair?: ServerPair): Promise<ApiServerDouble> {
    const double = new ApiServerDouble()
    const listener: RequestListener = (request, response) => double.#answer(request, response)
    const server = pair === undefined ? createPlain(listener) : createSecure(pair, listener)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const scheme = pair === undefined ? 'http' : 'https'
    double.address = `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`
    test.after(() => {
      server.closeAllConnections()
      server.close()
    })
    return double
  }

  /** Watches that are open. */
  get watchCount(): number {
    return this.#watches.size
  }

  /** Adds or changes pods. */
  put(...pods: readonly ApiPod[]): void {
    for (const pod of pods) {
      const key = `${pod.metadata.namespace}/${pod.metadata.name}`
      this.#publish(this.#pods.has(key) ? 'MODIFIED' : 'ADDED', key, pod)
    }
  }

  remove(name: string, namespace = 'ml'): void {
    const key = `${namespace}/${name}`
    const pod = this.#pods.get(key)
    if (pod !== undefined) this.#publish('DELETED', key, pod)
  }

  /** Sends a bookmark to all watches. */
  bookmark(): void {
    const metadata = { resourceVersion: String(this.#version), creationTimestamp: null }
    for (const watch of this.#watches)
      if (watch.bookmarks) send(watch, 'BOOKMARK', { apiVersion: 'v1', kind: 'Pod', metadata })
  }

  /** Sends any line to all watches. */
  sendLine(line: string): void {
    for (const { response } of this.#watches) response.write(`${line}\n`)
  }

  /** Ends all watches, as the server does after a while. */
  endWatches(): void {
    for (const { response } of this.#watches) response.end()
    this.#watches.clear()
  }

  /** Forgets all changes so far: watches that start earlier, and lists that continue, get 410. */
  compact(): void {
    this.#oldest = ++this.#version
    this.#events.length = 0
  }

  #publish(type: string, key: string, pod: ApiPod): void {
    const version = ++this.#version
    const object = { ...pod, metadata: { ...pod.metadata, resourceVersion: String(version) } }
    if (type === 'DELETED') this.#pods.delete(key)
    else this.#pods.set(key, object)
    const event = { version, type, object }
    this.#events.push(event)
    for (const watch of this.#watches) sendEvent(watch, event)
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', 'http://here')
    this.requests.push(`${url.pathname}${url.search}`)
    if (this.fault?.(url, request, response) === true) return
    const token = request.headers.authorization?.replace(/^Bearer /, '') ?? ''
    if (this.tokens.length > 0 && !this.tokens.includes(token)) {
      refuse(response, 401, 'Unauthorized')
      return
    }
    const [, namespace, name] = /^\/api\/v1\/namespaces\/([^/]+)\/pods(?:\/([^/]+))?$/.exec(url.pathname) ?? []
    const [, node] = /^\/api\/v1\/nodes\/([^/]+)$/.exec(url.pathname) ?? []
    if (url.pathname === '/apis/resource.k8s.io/v1beta1/resourceslices' && this.slices.length > 0)
      json(response, 200, { kind: 'ResourceSliceList', metadata: { resourceVersion: '1' }, items: this.slices })
    else if (url.pathname === '/apis/apps/v1/daemonsets')
      json(response, 200, { kind: 'DaemonSetList', metadata: { resourceVersion: '1' }, items: this.daemonSets })
    else if (url.pathname === '/apis/keda.sh/v1alpha1/scaledobjects' && this.scaledObjects !== undefined)
      json(response, 200, { kind: 'ScaledObjectList', metadata: { resourceVersion: '1' }, items: this.scaledObjects })
    else if (name !== undefined) answerObject(response, this.#pods.get(`${namespace}/${name}`))
    else if (url.pathname === '/api/v1/nodes') json(response, 200, this.#nodeList())
    else if (node !== undefined) answerObject(response, this.nodes.get(node))
    else if (namespace !== undefined || url.pathname === '/api/v1/pods') this.#answerPods(url, response, namespace)
    else answerObject(response, DISCOVERY[url.pathname])
  }

  #nodeList(): object {
    const metadata = { resourceVersion: String(this.#version) }
    return { kind: 'NodeList', apiVersion: 'v1', metadata, items: [...this.nodes.values()] }
  }

  #answerPods(url: URL, response: ServerResponse, namespace: string | undefined): void {
    const isSelected = selectionOf(url, namespace)
    if (isSet(url, 'watch')) {
      this.#watch(url, response, isSelected)
      return
    }
    const chosen = [...this.#pods.values()].filter(isSelected)
    const [version = String(this.#version), at = '0'] = (url.searchParams.get('continue') ?? '')
      .split(':')
      .filter(Boolean)
    if (Number(version) < this.#oldest) {
      refuse(response, 410, 'Expired')
      return
    }
    const limit = Number(url.searchParams.get('limit') ?? 0) || chosen.length
    const from = Number(at)
    const items = chosen.slice(from, from + limit)
    const left = chosen.length - from - items.length
    const more = left > 0 ? { continue: `${version}:${from + limit}`, remainingItemCount: left } : {}
    json(response, 200, { kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: version, ...more }, items })
  }

  /** Without a version, and with 0, a watch begins with the pods that there are. */
  #watch(url: URL, response: ServerResponse, isSelected: (pod: ApiPod) => boolean): void {
    const from = Number(url.searchParams.get('resourceVersion') ?? 0)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
    const watch = { response, isSelected, bookmarks: isSet(url, 'allowWatchBookmarks') }
    if (from !== 0 && from < this.#oldest) {
      send(watch, 'ERROR', statusOf(410, 'Expired'))
      response.end()
      return
    }
    if (from === 0) for (const object of this.#pods.values()) sendEvent(watch, { version: 0, type: 'ADDED', object })
    else for (const event of this.#events) if (event.version > from) sendEvent(watch, event)
    this.#watches.add(watch)
    response.on('close', () => this.#watches.delete(watch))
    const seconds = Number(url.searchParams.get('timeoutSeconds') ?? 0)
    if (seconds > 0) setTimeout(() => response.end(), seconds * 1000).unref()
  }
}

function answerObject(response: ServerResponse, object: object | undefined): void {
  if (object === undefined) refuse(response, 404, 'NotFound')
  else json(response, 200, object)
}

function sendEvent(watch: Watch, { type, object }: PodEvent): void {
  if (watch.isSelected(object)) send(watch, type, object)
}

function send({ response }: Watch, type: string, object: object): void {
  response.write(`${JSON.stringify({ type, object })}\n`)
}

function refuse(response: ServerResponse, code: number, reason: string): void {
  json(response, code, statusOf(code, reason))
}

function statusOf(code: number, reason: string): object {
  const message = `the double answers ${reason}`
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code }
}

function json(response: ServerResponse, code: number, body: object): void {
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
