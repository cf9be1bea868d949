import type { ApiPod } from './api-pod.ts'

/** The pods of this node as the API server knows them. */
export class PodCache {
  readonly #limit: number
  #pods = new Map<string, ApiPod>()
  /** Pods without room since the last call of {@link takeLeftOut}. */
  #leftOut = 0
  /** Whether a whole list has arrived. */
  isWhole = false

  /** @param limit Pods that are kept. Policy: further pods are counted, and known by the kubelet alone. */
  constructor(limit: number) {
    this.#limit = limit
  }

  get count(): number {
    return this.#pods.size
  }

  /** A pod by its name; undefined if the API server has not reported it. */
  get(namespace: string, name: string): ApiPod | undefined {
    return this.#pods.get(keyOf(namespace, name))
  }

  /** All pods. */
  all(): Iterable<ApiPod> {
    return this.#pods.values()
  }

  /** Replaces all pods by those of a whole list. */
  replace(pods: Iterable<ApiPod>): void {
    this.#pods = new Map()
    for (const pod of pods) this.set(pod)
    this.isWhole = true
  }

  /** Adds or replaces a pod. */
  set(pod: ApiPod): void {
    const key = keyOf(pod.namespace, pod.name)
    if (!this.#pods.has(key) && this.#pods.size >= this.#limit) this.#leftOut++
    else this.#pods.set(key, pod)
  }

  /** Removes a pod. A later pod of the same name stays. */
  delete({ namespace, name, uid }: ApiPod): void {
    const key = keyOf(namespace, name)
    if (this.#pods.get(key)?.uid === uid) this.#pods.delete(key)
  }

  /** Pods that found no room since the last call. */
  takeLeftOut(): number {
    const leftOut = this.#leftOut
    this.#leftOut = 0
    return leftOut
  }
}

function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`
}
