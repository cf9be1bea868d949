import { hostname } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Batch, RecordType } from '@sonde/sdk'
import { LinkIn } from '../hosting/link-in.ts'
import type { LinkMessage } from '../hosting/protocol.ts'
import { SourceStats } from '../hosting/source-stats.ts'
import { PAST_MODULE } from '../places.ts'
import type { SimulatorOptions } from '../sources/simulator/config.ts'
import { simulator } from '../sources/simulator/simulator.ts'
import type { ConfiguredSource } from '../sources/source.ts'
import { TRACEBACK_SOURCE } from '../traceback/window/open-event.ts'
import { AdoptedEvents, type PastTraceback } from './adopted-events.ts'
import {
  type FromPast,
  type PastEventCounts,
  type PastRequest,
  SELF,
  SELF_PAST_TYPES,
  type ToPast,
} from './past-protocol.ts'

/** The next stretch is asked for when the store has fewer bytes to write. */
const BACKLOG_BYTES = 4 << 20
/** Time between two looks at a store with more. Unit: milliseconds. */
const LOOK_MS = 20
/** Time between two reports of progress. Unit: milliseconds. */
const PROGRESS_MS = 10_000
/** A history that begins this much later than the past counts as filled. Unit: milliseconds. */
const LEAST_MS = 60_000

/** The history that is filled. */
export interface PastStore {
  accept(batch: Batch): void
  status(): { readonly queuedBytes: number; readonly state: string }
}

/** Options of {@link SimulatedPast}. */
export interface SimulatedPastOptions {
  readonly source: ConfiguredSource
  /** Start of the node. Unit: milliseconds since the Unix epoch. */
  readonly startedMs: number
  /** Start of the history that exists; null if there is none. Unit: milliseconds since the Unix epoch. */
  readonly oldestMs: number | null
  readonly store: PastStore
  /** Default: the past has no events. */
  readonly events?: PastTraceback
  /** Called every ten seconds while the past is filled. */
  readonly onProgress?: (progress: PastProgress) => void
}

/** How much of the past is filled. */
export interface PastProgress {
  /** Up to this time, since the Unix epoch. Unit: milliseconds. */
  readonly reachedMs: number
  /** Range: 0 to 1. */
  readonly filledShare: number
  readonly tookMs: number
}

/** What was filled, and how long it took. */
export interface FilledPast {
  readonly fromMs: number
  readonly toMs: number
  readonly records: number
  readonly tookMs: number
  /** Absent without rules of traceback. */
  readonly events?: PastEventCounts
}

/** The source with a simulated past; undefined if none has one. */
export function sourceWithPast(sources: readonly ConfiguredSource[]): ConfiguredSource | undefined {
  return sources.find(({ definition, options }) => definition === simulator && pastMsOf(options) > 0)
}

/**
 * Fills the history before the start with the past of a simulated node. A thread simulates it, and only the store gets
 * its records: views show what is, and destinations have sent what was.
 */
export class SimulatedPast {
  /** Resolves when the past is filled, or {@link close} was called; undefined if there was nothing to fill. */
  readonly filled: Promise<FilledPast | undefined>
  readonly #options: SimulatedPastOptions
  readonly #links: Map<string, LinkIn>
  readonly #events: AdoptedEvents | undefined
  #worker: Worker | undefined
  #records = 0
  #beganMs = 0
  #toldMs = 0
  #isClosed = false

  constructor(options: SimulatedPastOptions) {
    const { source, startedMs, events } = options
    this.#options = options
    this.#links = new Map([
      [source.name, linkIn(source.name, source.intervalMs, simulator.types)],
      [SELF, linkIn(SELF, source.intervalMs, SELF_PAST_TYPES)],
    ])
    this.#events = events === undefined ? undefined : new AdoptedEvents(events, startedMs)
    this.filled = this.#fill()
  }

  /** Stops filling; what was filled remains. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#worker?.terminate()
    await this.#events?.tidy()
  }

  async #fill(): Promise<FilledPast | undefined> {
    const { source, startedMs, oldestMs } = this.#options
    const { name, intervalMs } = source
    const fromMs = wholeSecond(startedMs - pastMsOf(source.options))
    const toMs = Math.min(startedMs, oldestMs ?? startedMs) - intervalMs
    if (toMs - fromMs < LEAST_MS) return undefined
    const options = source.options as SimulatorOptions
    const request: PastRequest = { options, intervalMs, name, host: hostname(), startedMs, fromMs, toMs }
    this.#beganMs = performance.now()
    this.#toldMs = this.#beganMs
    const reached = await this.#run(request)
    if (reached === undefined) return undefined
    return { fromMs, ...reached, records: this.#records, tookMs: performance.now() - this.#beganMs }
  }

  /** Resolves with the time up to which the past is filled, and its events; undefined if it was closed. */
  #run(request: PastRequest): Promise<Reached | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<Reached | undefined>()
    let toMs = request.fromMs
    const worker = new Worker(PAST_MODULE, { workerData: request, name: 'sonde-past' })
    this.#worker = worker
    worker.unref()
    worker.on('message', (message: FromPast) => {
      if (this.#isClosed) return
      if (message.kind === 'filled') {
        toMs = message.toMs
        this.#tellProgress(request, toMs)
        if (!message.isDone) this.#goOn(worker)
        else this.#askForEvents(worker, request.options).then((isAsked) => isAsked || resolve({ toMs }), reject)
      } else if (message.kind === 'event') this.#events?.take(message.id)
      else if (message.kind === 'events')
        this.#events?.counts(message.counts).then((events) => resolve({ toMs, events }), reject)
      else if (message.kind === 'warning') this.#options.events?.log.warn(message.facts, message.message)
      else this.#take(message)
    })
    worker.on('error', reject)
    worker.on('exit', () => resolve(undefined))
    post(worker, { kind: 'go' })
    return promise.finally(async () => {
      await worker.terminate()
      await this.#events?.tidy()
    })
  }

  /** Returns whether events will be made. */
  async #askForEvents(worker: Worker, node: SimulatorOptions): Promise<boolean> {
    const request = await this.#events?.request(node)
    if (request === undefined) return false
    const { intervalMs } = this.#options.source
    const { rings } = request
    for (const name of [...(rings === undefined ? [] : [rings.name]), TRACEBACK_SOURCE])
      this.#links.set(name, linkIn(name, intervalMs, []))
    post(worker, { kind: 'events', request })
    return true
  }

  #tellProgress({ fromMs, toMs }: PastRequest, reachedMs: number): void {
    const nowMs = performance.now()
    if (nowMs - this.#toldMs < PROGRESS_MS) return
    this.#toldMs = nowMs
    const filledShare = (reachedMs - fromMs) / (toMs - fromMs)
    this.#options.onProgress?.({ reachedMs, filledShare, tookMs: nowMs - this.#beganMs })
  }

  #take(message: LinkMessage): void {
    const batch = this.#links.get(message.source)?.take(message)
    if (batch === undefined) return
    this.#records += batch.count
    this.#options.store.accept(batch)
  }

  /** Asks for the next stretch as soon as the store has written most of what it has. */
  #goOn(worker: Worker): void {
    if (this.#isClosed) return
    const { queuedBytes } = this.#options.store.status()
    if (queuedBytes < BACKLOG_BYTES) post(worker, { kind: 'go' })
    else setTimeout(() => this.#goOn(worker), LOOK_MS).unref()
  }
}

/** Up to where the past is filled, and with which events. */
type Reached = Pick<FilledPast, 'toMs' | 'events'>

function post(worker: Worker, message: ToPast): void {
  worker.postMessage(message)
}

function linkIn(name: string, intervalMs: number, types: readonly RecordType[]): LinkIn {
  return new LinkIn({
    ...{ name, intervalMs, types, labels: { simulated: 'true' }, owner: {}, life: 0 },
    floodBytes: Number.POSITIVE_INFINITY,
    stats: new SourceStats(),
  })
}

function pastMsOf(options: unknown): number {
  return (options as SimulatorOptions).past_s * 1000
}

function wholeSecond(timeMs: number): number {
  return Math.ceil(timeMs / 1000) * 1000
}
