import {
  absenceType,
  allocateViews,
  type Batch,
  countDrop,
  encoderOf,
  type RecordType,
  SondeError,
  type SourceInfo,
  SymbolTable,
  wallNs,
} from '@sonde/sdk'
import type { SourceStats } from '../pipeline/source-stats.ts'
import { within } from '../pipeline/within.ts'
import type { NodeSource, Probe } from '../sources/source.ts'
import type { FromHost, HostedSource } from './protocol.ts'
import type { Transport, TransportEvents } from './transport.ts'

/** Options of {@link RemoteSource}. */
export interface RemoteOptions {
  readonly hosted: HostedSource
  /** Types the source may report; batches of others are refused. */
  readonly types: readonly RecordType[]
  readonly start: (events: TransportEvents) => Transport
  readonly accept: (batch: Batch) => void
  readonly stats: SourceStats
  /** Longest a call may take. Unit: milliseconds. */
  readonly callLimitMs: number
  readonly onNoise: (line: string) => void
}

interface Call {
  readonly id: number
  readonly resolve: (done: Extract<FromHost, { kind: 'done' }>) => void
  readonly reject: (error: SondeError) => void
}

const BACKOFF_MS = [0, 1000, 2000, 5000, 10_000, 30_000]
/** A child that lived this long is not counted among those that fail at once. Unit: milliseconds. */
const HEALTHY_MS = 60_000
const CLOSE_LIMIT_MS = 500
/** A child that is killed ends at once, unless the kernel holds it in a call of its own. Unit: milliseconds. */
const END_LIMIT_MS = 1000
/** The first call also waits for the process to start and load its code. Unit: milliseconds. */
const START_LIMIT_MS = 10_000

/**
 * A source that runs in a child process or worker, seen from the agent. Each call has a time limit: a child that does not answer is ended and replaced, as is one
 * that crashed; the wait before the next grows to 30 s while they keep failing.
 */
export class RemoteSource implements NodeSource {
  readonly #options: RemoteOptions
  readonly #types: ReadonlyMap<string, RecordType>
  #child: Child | undefined
  #failures = 0
  #nextStartMs = 0
  #closed = false

  constructor(options: RemoteOptions) {
    this.#options = options
    this.#types = new Map([...options.types, absenceType].map((type) => [type.fingerprint, type]))
  }

  open(): void {
    // The child is started by the first call, and opens its source itself.
  }

  async probe(): Promise<Probe> {
    const { probe } = await this.#call('probe', this.#options.callLimitMs)
    return probe ?? { state: 'stuck', reason: 'The probe gave no answer.' }
  }

  async sample(): Promise<void> {
    await this.#call('sample', this.#options.callLimitMs)
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    const child = this.#child
    if (child === undefined) return
    // Whether it closes by itself or not, the kill that follows is what counts.
    await child.call('close', CLOSE_LIMIT_MS).catch(() => undefined)
    child.transport.kill()
    await within(END_LIMIT_MS, child.ended)
  }

  async #call(method: 'probe' | 'sample', limitMs: number): Promise<Extract<FromHost, { kind: 'done' }>> {
    const child = this.#child ?? (await this.#startChild())
    const done = await child.call(method, limitMs)
    const { stats } = this.#options
    stats.errors += done.failed
    countDrop(stats, 'flood', done.flooded)
    if (done.error !== undefined) throw new SondeError(done.error.code, done.error.message)
    return done
  }

  async #startChild(): Promise<Child> {
    const waitMs = this.#nextStartMs - Date.now()
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs).unref())
    if (this.#closed) throw new SondeError('AGT_CLOSED', 'the source is closed')
    const startedMs = Date.now()
    const child = new Child(this.#options, this.#types, (reason) => {
      this.#child = undefined
      if (this.#closed) return
      this.#failures = Date.now() - startedMs > HEALTHY_MS ? 0 : this.#failures + 1
      this.#nextStartMs = Date.now() + (BACKOFF_MS[Math.min(this.#failures, BACKOFF_MS.length - 1)] ?? 0)
      this.#options.stats.restarts++
      child.sayGone(reason)
    })
    this.#child = child
    return child
  }
}

/** One life of the child: its transport, its symbols, and the call that is open. */
class Child {
  readonly transport: Transport
  /** Resolves when it has ended. */
  readonly ended: Promise<void>
  readonly #options: RemoteOptions
  readonly #types: ReadonlyMap<string, RecordType>
  readonly #symbols = new SymbolTable(1 << 24)
  readonly #info: SourceInfo
  #open: Call | undefined
  #calls = 0
  #receivedBytes = 0

  constructor(options: RemoteOptions, types: ReadonlyMap<string, RecordType>, onEnd: (reason: string) => void) {
    const { hosted } = options
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ended = promise
    this.#options = options
    this.#types = types
    this.#info = { id: hosted.name, tag: '', labels: {}, symbols: this.#symbols, intervalMs: hosted.intervalMs }
    this.transport = options.start({
      onMessage: (message) => this.#receive(message),
      onNoise: options.onNoise,
      onExit: (reason) => {
        this.#open?.reject(
          new SondeError('AGT_CHILD_EXIT', `The process of source ${hosted.name} ${reason}; it is replaced.`),
        )
        this.#open = undefined
        onEnd(reason)
        resolve()
      },
    })
    this.transport.send({ kind: 'open', source: hosted })
  }

  call(method: 'probe' | 'sample' | 'close', limitMs: number): Promise<Extract<FromHost, { kind: 'done' }>> {
    const { name } = this.#options.hosted
    // A call that hangs is still open when the agent stops: then there is no point in another.
    if (this.#open !== undefined)
      return Promise.reject(new SondeError('AGT_CALL_OPEN', `source ${name}: a call is still open`))
    return new Promise((resolve, reject) => {
      const id = ++this.#calls
      const allowedMs = limitMs + (id === 1 && method !== 'close' ? START_LIMIT_MS : 0)
      const timer = setTimeout(() => {
        this.#open = undefined
        this.transport.kill()
        reject(
          new SondeError(
            'AGT_CALL_LIMIT',
            `A call of source ${name} took more than ${allowedMs} ms; its process is replaced.`,
          ),
        )
      }, allowedMs)
      const settle =
        <T>(then: (value: T) => void) =>
        (value: T) => {
          clearTimeout(timer)
          then(value)
        }
      this.#open = { id, resolve: settle(resolve), reject: settle(reject) }
      this.#receivedBytes = 0
      this.transport.send({ kind: 'call', id, method })
    })
  }

  /** Takes all series of this life out of every view: the next child's symbols are others. */
  sayGone(reason: string): void {
    const encode = encoderOf(absenceType, this.#symbols)
    const { recordBytes } = absenceType.layout
    const views = allocateViews(recordBytes * this.#options.types.length)
    const text = `The process of the source ${reason}.`
    this.#options.types.forEach((type, index) => {
      encode(
        { time: wallNs(), type: type.name, series: '', field: '', code: 'gone', reason: text },
        views,
        index * recordBytes,
      )
    })
    const count = this.#options.types.length
    this.#options.accept({ type: absenceType, source: this.#info, clock: 'wall', count, bytes: views.bytes })
  }

  #receive(message: FromHost): void {
    if (message.kind === 'symbols') {
      for (const text of message.texts) this.#symbols.id(text)
    } else if (message.kind === 'batch') {
      this.#acceptBatch(message)
    } else if (message.id === this.#open?.id) {
      const call = this.#open
      this.#open = undefined
      call?.resolve(message)
    }
  }

  /** Nothing a child sends is trusted: the type must be declared, the length must fit, and the sum is bounded. */
  #acceptBatch({ type: fingerprint, clock, count, bytes }: Extract<FromHost, { kind: 'batch' }>): void {
    const { stats, accept, hosted } = this.#options
    const type = this.#types.get(fingerprint)
    if (type === undefined || bytes.byteLength !== count * type.layout.recordBytes) {
      countDrop(stats, 'malformed', count)
      return
    }
    this.#receivedBytes += bytes.byteLength
    if (this.#receivedBytes > hosted.floodBytes) {
      countDrop(stats, 'flood', count)
      return
    }
    stats.records += count
    accept({ type, source: this.#info, clock, count, bytes })
  }
}
