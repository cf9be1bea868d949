import { hostname } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Batch, RecordType } from '@sonde/sdk'
import { LinkIn } from '../hosting/link-in.ts'
import { SourceStats } from '../hosting/source-stats.ts'
import { PAST_MODULE } from '../places.ts'
import type { SimulatorOptions } from '../sources/simulator/config.ts'
import { simulator } from '../sources/simulator/simulator.ts'
import type { ConfiguredSource } from '../sources/source.ts'
import { type FromPast, type PastRequest, SELF, SELF_PAST_TYPES } from './past-protocol.ts'

/** The next stretch is asked for when the store has fewer bytes to write. */
const BACKLOG_BYTES = 4 << 20
/** Time between two looks at a store with more. Unit: milliseconds. */
const LOOK_MS = 20
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
}

/** What was filled, and how long it took. */
export interface FilledPast {
  readonly fromMs: number
  readonly toMs: number
  readonly records: number
  readonly tookMs: number
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
  readonly #links: ReadonlyMap<string, LinkIn>
  #worker: Worker | undefined
  #records = 0
  #isClosed = false

  constructor(options: SimulatedPastOptions) {
    const { source } = options
    this.#options = options
    this.#links = new Map([
      [source.name, linkIn(source.name, source.intervalMs, simulator.types)],
      [SELF, linkIn(SELF, source.intervalMs, SELF_PAST_TYPES)],
    ])
    this.filled = this.#fill()
  }

  /** Stops filling; what was filled remains. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#worker?.terminate()
  }

  async #fill(): Promise<FilledPast | undefined> {
    const { source, startedMs, oldestMs } = this.#options
    const { name, intervalMs } = source
    const fromMs = wholeSecond(startedMs - pastMsOf(source.options))
    const toMs = Math.min(startedMs, oldestMs ?? startedMs) - intervalMs
    if (toMs - fromMs < LEAST_MS) return undefined
    const options = source.options as SimulatorOptions
    const request: PastRequest = { options, intervalMs, name, host: hostname(), startedMs, fromMs, toMs }
    const beganMs = performance.now()
    const reachedMs = await this.#run(request)
    if (reachedMs === undefined) return undefined
    return { fromMs, toMs: reachedMs, records: this.#records, tookMs: performance.now() - beganMs }
  }

  /** Resolves with the time up to which the past is filled; undefined if it was closed. */
  #run(request: PastRequest): Promise<number | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>()
    const worker = new Worker(PAST_MODULE, { workerData: request, name: 'sonde-past' })
    this.#worker = worker
    worker.unref()
    worker.on('message', (message: FromPast) => {
      if (this.#isClosed) return
      if (message.kind !== 'filled') this.#take(message)
      else if (message.isDone) resolve(message.toMs)
      else this.#goOn(worker)
    })
    worker.on('error', reject)
    worker.on('exit', () => resolve(undefined))
    worker.postMessage('go')
    return promise.finally(() => void worker.terminate())
  }

  #take(message: Exclude<FromPast, { kind: 'filled' }>): void {
    const batch = this.#links.get(message.source)?.take(message)
    if (batch === undefined) return
    this.#records += batch.count
    this.#options.store.accept(batch)
  }

  /** Asks for the next stretch as soon as the store has written most of what it has. */
  #goOn(worker: Worker): void {
    if (this.#isClosed) return
    const { queuedBytes } = this.#options.store.status()
    if (queuedBytes < BACKLOG_BYTES) worker.postMessage('go')
    else setTimeout(() => this.#goOn(worker), LOOK_MS).unref()
  }
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
