import { SondeError } from '@sonde/sdk'
import { APP_LABELS, SERVICE_LABELS } from '@sonde/sdk/internal'
import { gpusIn } from './api-pod.ts'
import type { ApiServer } from './api-server.ts'
import { type DaemonSetDetail, daemonSetOf } from './daemon-set.ts'
import { jsonFrom, objectAt, objectsAt, textAt } from './json.ts'
import { COMPONENT_LABELS, type Component, type PodDetail, podDetailOf, textsIn } from './pod-detail.ts'

/** Objects of one answer. Policy: further objects are not looked at. */
const PAGE_OBJECTS = 500
/** Labels that name the app and the service of a pod. */
const DECIDING: ReadonlySet<string> = new Set([...APP_LABELS, ...SERVICE_LABELS])

/** A node, as far as it explains its pods. */
export interface NodeDetail {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  /** GPUs, or MIG instances, that the device plugin has registered. */
  readonly capacity: number
  /** Those of them that the plugin reports as healthy. */
  readonly allocatable: number
  readonly isReady: boolean
}

/** The pods of a component. */
export interface ComponentPods {
  /** Pods on the node, and pods that a DaemonSet made for it. */
  readonly here: readonly PodDetail[]
  /** A pod on another node; undefined if there is none, or if `here` has any. */
  readonly elsewhere: PodDetail | undefined
}

/** Reads single objects of the API server, each once. */
export class ClusterView {
  readonly #server: ApiServer
  readonly #isGpu: (resource: string) => boolean
  readonly #answers = new Map<string, Promise<unknown>>()
  readonly #ending = new AbortController()

  constructor(server: ApiServer, isGpu: (resource: string) => boolean) {
    this.#server = server
    this.#isGpu = isGpu
  }

  get address(): string {
    return this.#server.address
  }

  /** A pod; undefined if there is none of this name. @throws SondeError `SRC_API_SERVER` if there is no answer. */
  async pod(namespace: string, name: string): Promise<PodDetail | undefined> {
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`
    const text = await this.#ask(path, () => this.#server.object(path, this.#ending.signal))
    return text === undefined ? undefined : this.#detailOf(jsonFrom(text))
  }

  /** A node; undefined if the server has none of this name. @throws SondeError `SRC_API_SERVER` as {@link pod}. */
  async node(name: string): Promise<NodeDetail | undefined> {
    const path = `/api/v1/nodes/${encodeURIComponent(name)}`
    const text = await this.#ask(path, () => this.#server.object(path, this.#ending.signal))
    if (text === undefined) return undefined
    const node = jsonFrom(text)
    const status = objectAt(node, 'status')
    const ready = objectsAt(status, 'conditions').find((condition) => textAt(condition, 'type') === 'Ready')
    return {
      name,
      labels: textsIn(objectAt(objectAt(node, 'metadata'), 'labels')),
      capacity: gpusIn(objectAt(status, 'capacity'), this.#isGpu),
      allocatable: gpusIn(objectAt(status, 'allocatable'), this.#isGpu),
      isReady: textAt(ready, 'status') !== 'False',
    }
  }

  /** Names of pods in a namespace. @throws SondeError `SRC_API_SERVER` as {@link pod}. */
  async podNames(namespace: string): Promise<readonly string[]> {
    const pods = await this.#pods(`/api/v1/namespaces/${encodeURIComponent(namespace)}/pods?`)
    return pods.map(({ name }) => name)
  }

  /** The pods of a component for a node. @throws SondeError `SRC_API_SERVER` as {@link pod}. */
  async component(component: Component, node: string): Promise<ComponentPods> {
    const selector = `fieldSelector=${encodeURIComponent(`spec.nodeName=${node}`)}`
    const isOf = (pod: PodDetail) => pod.component === component
    const here = (await this.#pods(`/api/v1/pods?${selector}`)).filter(isOf)
    if (here.length > 0) return { here, elsewhere: undefined }
    const all: PodDetail[] = []
    for (const [label, values] of Object.entries(COMPONENT_LABELS[component]))
      all.push(...(await this.#pods(`/api/v1/pods?labelSelector=${selectorOf(label, values)}`)))
    const made = all.filter((pod) => pod.node === '' && pod.madeFor === node)
    return { here: made, elsewhere: made.length > 0 ? undefined : all[0] }
  }

  /** The DaemonSets of a component. @throws SondeError `SRC_API_SERVER` as {@link pod}. */
  async daemonSets(component: Component): Promise<readonly DaemonSetDetail[]> {
    const items = await this.#items('/apis/apps/v1/daemonsets?')
    return items.flatMap((item) => daemonSetOf(item) ?? []).filter((each) => each.component === component)
  }

  async #pods(path: string): Promise<readonly PodDetail[]> {
    return (await this.#items(path)).flatMap((item) => this.#detailOf(item) ?? [])
  }

  async #items(path: string): Promise<readonly object[]> {
    const page = `${path}${path.endsWith('?') ? '' : '&'}limit=${PAGE_OBJECTS}`
    const answer = await this.#ask(page, () => this.#server.list(page, this.#ending.signal))
    if (answer.status !== 200) throw new SondeError('SRC_API_SERVER', `the API server ${this.address} answers 410`)
    return objectsAt(jsonFrom(answer.text), 'items')
  }

  #detailOf(pod: unknown): PodDetail | undefined {
    return podDetailOf(pod, { labels: DECIDING, isGpu: this.#isGpu })
  }

  async #ask<T>(path: string, ask: () => Promise<T>): Promise<T> {
    const answer = (this.#answers.get(path) as Promise<T> | undefined) ?? ask()
    this.#answers.set(path, answer)
    return answer
  }
}

function selectorOf(label: string, values: readonly string[]): string {
  return encodeURIComponent(`${label} in (${values.join(',')})`)
}
