import type { IncomingMessage } from 'node:http'
import { SondeError } from '@sonde/sdk'
import { type ApiPod, type ApiPodOptions, apiPodOf } from './api-pod.ts'
import type { ApiServer } from './api-server.ts'
import { isObject, jsonFrom, objectAt, textAt } from './json.ts'
import type { PodCache } from './pod-cache.ts'

/** Pods of one page of a list. */
const PAGE_PODS = 500
/** Pages of one list. A server that never ends a list is refused. */
const PAGES_MAX = 256
/** How often one list may start again because its token became too old. */
const RESTARTS_MAX = 3
/** How long the server keeps a watch open; another one follows. Unit: seconds. */
const WATCH_S = 240
/** A watch is closed if nothing came for longer: bookmarks come every minute. Unit: milliseconds. */
const SILENCE_MS = (WATCH_S + 60) * 1000
/** Longest event. Unit: bytes. */
const LINE_BYTES_MAX = 4 << 20
/** A watch that ends sooner without an event counts as a failure. Unit: milliseconds. */
const SHORT_MS = 1000
/** Pauses after failures in a row. Unit: milliseconds. */
const PAUSES_MS = [1000, 2000, 5000, 10_000, 30_000]
/** A resource version is a text that only the server understands. */
const VERSION = /^[\x21-\x7e]{1,256}$/

/** Options of {@link PodWatch}. */
export interface PodWatchOptions {
  readonly server: ApiServer
  readonly cache: PodCache
  readonly facts: ApiPodOptions
  /** Only pods of this node are read. */
  readonly nodeName: string
  /** Called when a watch ends with an error, and when a pod is refused. */
  readonly failed: (error: SondeError) => void
  /** Monotonic clock. Unit: milliseconds. Default: that of Node. */
  readonly now?: () => number
}

/** Keeps a cache of pods equal to the API server: a list, then a watch from the version of the list. */
export class PodWatch {
  readonly #options: PodWatchOptions
  readonly #now: () => number
  readonly #ending = new AbortController()
  /** Where the next watch starts; empty if a list is needed. */
  #version = ''
  #isWatching = false
  #heardMs = 0
  #failures = 0
  #retryMs = Number.NEGATIVE_INFINITY
  #response: IncomingMessage | undefined

  constructor(options: PodWatchOptions) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  /** Whether a watch is open. */
  get isWatching(): boolean {
    return this.#isWatching
  }

  /**
   * Starts what is missing: the list, or the watch. Called about once a second; after a failure it waits.
   *
   * @throws SondeError `SRC_API_SERVER` if the server does not answer, or its answer is invalid.
   */
  async step(): Promise<void> {
    const nowMs = this.#now()
    if (this.#isWatching && nowMs - this.#heardMs > SILENCE_MS) this.#response?.destroy()
    if (this.#isWatching || nowMs < this.#retryMs || this.#ending.signal.aborted) return
    try {
      if (this.#version === '') await this.#list()
      await this.#watch()
    } catch (error) {
      this.#pause()
      throw error
    }
  }

  /** Ends the watch. */
  close(): void {
    this.#ending.abort()
  }

  async #list(): Promise<void> {
    const { server, cache, facts } = this.#options
    const pods: ApiPod[] = []
    let [next, version, restarts] = ['', '', 0]
    for (let page = 0; page === 0 || next !== ''; page++) {
      if (page >= PAGES_MAX) throw this.#fault(`does not end its list after ${PAGES_MAX} pages`)
      const more = next === '' ? '' : `&continue=${encodeURIComponent(next)}`
      const answer = await server.list(`${this.#path()}&limit=${PAGE_PODS}${more}`, this.#ending.signal)
      if (answer.status === 410) {
        // The snapshot of the list is too old: the list starts again.
        if (++restarts > RESTARTS_MAX) throw this.#fault('ends its list with 410 again and again')
        pods.length = 0
        next = ''
        page = -1
        continue
      }
      const list = jsonFrom(answer.text)
      if (!isObject(list) || !Array.isArray(list.items)) throw this.#fault('answers with text that is no list of pods')
      for (const item of list.items) {
        const pod = apiPodOf(item, facts)
        if (pod !== undefined) pods.push(pod)
      }
      const metadata = objectAt(list, 'metadata')
      next = textAt(metadata, 'continue')
      version = textAt(metadata, 'resourceVersion')
    }
    if (!VERSION.test(version)) throw this.#fault('gives its list no valid resourceVersion')
    cache.replace(pods)
    this.#version = version
  }

  async #watch(): Promise<void> {
    const watch = `&watch=true&allowWatchBookmarks=true&timeoutSeconds=${WATCH_S}`
    const path = `${this.#path()}${watch}&resourceVersion=${encodeURIComponent(this.#version)}`
    const response = await this.#options.server.watch(path, this.#ending.signal)
    if (response === undefined) {
      this.#version = ''
      this.#pause()
      return
    }
    this.#response = response
    this.#isWatching = true
    this.#heardMs = this.#now()
    void this.#follow(response)
  }

  /** Applies events until the watch ends. */
  async #follow(response: IncomingMessage): Promise<void> {
    const startedMs = this.#now()
    let events = 0
    try {
      for await (const line of linesOf(response)) {
        this.#heardMs = this.#now()
        if (!this.#apply(line)) {
          this.#version = ''
          break
        }
        events++
        this.#failures = 0
      }
    } catch (error) {
      if (!this.#ending.signal.aborted)
        this.#options.failed(error instanceof SondeError ? error : this.#fault('broke the watch off', error))
    }
    response.destroy()
    this.#isWatching = false
    if (events === 0 && (this.#version === '' || this.#now() - startedMs < SHORT_MS)) this.#pause()
  }

  /** Applies an event; false if a new list is needed. @throws SondeError if the line is no event. */
  #apply(line: string): boolean {
    const event = jsonFrom(line)
    const type = textAt(event, 'type')
    const object = objectAt(event, 'object')
    // Such as 410: the version is too old.
    if (type === 'ERROR') return false
    const version = textAt(objectAt(object, 'metadata'), 'resourceVersion')
    if (!VERSION.test(version) || !EVENTS.has(type)) {
      this.#version = ''
      throw this.#fault('sends a watch event without a type or a valid resourceVersion')
    }
    this.#version = version
    const pod = type === 'BOOKMARK' ? undefined : apiPodOf(object, this.#options.facts)
    if (pod === undefined) return true
    if (type === 'DELETED') this.#options.cache.delete(pod)
    else this.#options.cache.set(pod)
    return true
  }

  #path(): string {
    return `/api/v1/pods?fieldSelector=${encodeURIComponent(`spec.nodeName=${this.#options.nodeName}`)}`
  }

  #pause(): void {
    const pauseMs = PAUSES_MS[Math.min(this.#failures, PAUSES_MS.length - 1)] ?? 0
    this.#failures++
    this.#retryMs = this.#now() + pauseMs
  }

  #fault(why: string, cause?: unknown): SondeError {
    return new SondeError('SRC_API_SERVER', `the API server ${this.#options.server.address} ${why}`, { cause })
  }
}

const EVENTS: ReadonlySet<string> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK'])

/** The lines of a watch. @throws Error if a line is too long. */
async function* linesOf(response: IncomingMessage): AsyncGenerator<string> {
  let parts: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    let from = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      parts.push(chunk.subarray(from, end))
      const line = Buffer.concat(parts).toString()
      parts = []
      bytes = 0
      from = end + 1
      if (line !== '') yield line
    }
    if (from === chunk.length) continue
    parts.push(chunk.subarray(from))
    bytes += chunk.length - from
    if (bytes > LINE_BYTES_MAX) throw new Error(`an event has more than ${LINE_BYTES_MAX} bytes`)
  }
}
