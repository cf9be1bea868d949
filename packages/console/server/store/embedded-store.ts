import { randomUUID } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import {
  type Batch,
  countDrop,
  droppedTotal,
  messageOf,
  type QueryAnswer,
  type QueryRequest,
  type SinkStats,
  SondeError,
  sinkStats,
} from '@sonde/sdk'
import { typeOfDefinition } from '@sonde/sdk/internal'
import type { StoreSettings } from './config.ts'
import { PageQueue } from './pages.ts'
import type { FileStatus, FromWorker, RecordsRequest, StoredBatch, ToWorker, WorkerStart } from './protocol.ts'
import type { Store, StoreStatus } from './store.ts'
import { symbolsOf } from './texts.ts'

const IN_FLIGHT_LIMIT = 2
const RESTART_MS = 1000
/** How long the worker may take to close a file to which all is written. */
const WORKER_CLOSE_MS = 500
const CALL_COUNT_LIMIT = 1000

type Call = {
  resolve: (result: QueryAnswer | readonly StoredBatch[] | undefined) => void
  reject: (error: Error) => void
}

/** The main thread's half of the store: it keeps what is not yet written, and starts a new worker where one died. */
export class EmbeddedStore implements Store {
  readonly name = 'store'
  readonly stats: SinkStats = sinkStats()
  /** Settles when the worker has tried the file for the first time. */
  readonly opened: Promise<void>
  readonly #settings: StoreSettings
  readonly #workerFile: URL
  readonly #session = randomUUID()
  readonly #queue: PageQueue
  readonly #calls = new Map<number, Call>()
  readonly #timer: NodeJS.Timeout
  readonly #flushes: { readonly sequence: number; readonly resolve: () => void }[] = []
  readonly #sealedMs = new Map<number, number>()
  #worker: Worker
  #status: FileStatus
  #ackedMs = 0
  /** Records that were lost when the last flush ended. */
  #lostBefore = 0
  /** The opening of the file that pages are meant for; 0 before the first, when none is sent. */
  #opening = 0
  #nextCall = 0
  #closing: Promise<void> | undefined
  #settleOpen: { resolve: () => void; reject: (error: Error) => void }
  #onClosed: () => void = () => undefined

  /** @param worker Module of the worker. */
  constructor(settings: StoreSettings, worker: URL) {
    this.#workerFile = worker
    this.#settings = settings
    this.#queue = new PageQueue(settings.queueLimitBytes, this.stats)
    this.#status = {
      state: 'writing',
      reason: '',
      bytes: 0,
      freeBytes: 0,
      oldestMs: null,
      corruptChunks: 0,
      errors: 0,
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.opened = promise
    this.#settleOpen = { resolve, reject }
    this.#worker = this.#start('refuse')
    this.#timer = setInterval(() => this.#post(), settings.flushIntervalMs)
    this.#timer.unref()
  }

  get queuedRecords(): number {
    return this.#queue.records
  }

  accept(batch: Batch): void {
    const startedMs = performance.now()
    this.stats.in += batch.count
    if (this.#closing === undefined) {
      this.#queue.append(batch, Date.now())
      if (this.#queue.hasFullPage) this.#post()
    } else {
      countDrop(this.stats, 'closed', batch.count)
    }
    this.stats.seconds += (performance.now() - startedMs) / 1000
  }

  async flush(): Promise<void> {
    await this.#written()
    const before = this.#lostBefore
    this.#lostBefore = droppedTotal(this.stats)
    const lost = this.#lostBefore - before
    if (lost === 0) return
    const advice = 'the stats of the store say for which reasons, docs/store.md what to do'
    throw new SondeError('STO_LOST', `the store dropped ${lost} records; ${advice}`)
  }

  /** Resolves when every record accepted so far is written or dropped. */
  #written(): Promise<void> {
    const sequence = this.#queue.lastSequence
    if (sequence === 0) return Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#flushes.push({ sequence, resolve })
    this.#post()
    return promise
  }

  status(): StoreStatus {
    return { ...this.#status, ackedMs: this.#ackedMs, queuedBytes: this.#queue.bytes }
  }

  async query(request: QueryRequest): Promise<QueryAnswer> {
    // What was accepted before the question belongs to its answer, unless the disk is behind.
    this.#post()
    return (await this.#call((id) => ({ kind: 'query', id, request }))) as QueryAnswer
  }

  async records(request: RecordsRequest): Promise<readonly Batch[]> {
    this.#post()
    const batches = await this.#call((id) => ({ kind: 'records', id, request }))
    return (batches as readonly StoredBatch[]).map(batchOf)
  }

  async maintain(): Promise<void> {
    await this.#call((id) => ({ kind: 'maintain', id }))
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await within(this.#written(), this.#settings.closeLimitMs)
    clearInterval(this.#timer)
    const lost = this.#queue.clear()
    countDrop(this.stats, 'closed', lost)
    for (const { resolve } of this.#flushes.splice(0)) resolve()
    const closed = new Promise<void>((resolve) => {
      this.#onClosed = resolve
    })
    this.#send({ kind: 'close' })
    await within(closed, WORKER_CLOSE_MS)
    this.#failCalls(new SondeError('STO_CLOSED', 'the store was closed before it answered'))
    await this.#worker.terminate()
  }

  #start(whenLocked: WorkerStart['whenLocked']): Worker {
    const start: WorkerStart = { settings: this.#settings, session: this.#session, whenLocked }
    const worker = new Worker(this.#workerFile, { workerData: start, name: 'sonde-store' })
    worker.on('message', (message: FromWorker) => this.#receive(message))
    worker.on('error', (error) => this.#crashed(worker, messageOf(error)))
    worker.on('exit', (code) => this.#crashed(worker, `it ended with code ${code}`))
    return worker
  }

  /** The worker died: whatever it had and did not acknowledge is given to a new one. */
  #crashed(worker: Worker, reason: string): void {
    if (worker !== this.#worker || this.#closing !== undefined) {
      this.#onClosed()
      return
    }
    this.#status = {
      ...this.#status,
      state: 'failing',
      reason: `the store's worker stopped (${reason}); it is started again`,
      errors: this.#status.errors + 1,
    }
    this.stats.errors = this.#status.errors
    this.#failCalls(new SondeError('STO_WORKER', 'the store was restarted before it answered; ask again'))
    this.#opening = 0
    this.#worker.removeAllListeners()
    this.#worker.on('error', () => undefined)
    setTimeout(() => {
      if (this.#closing === undefined) this.#worker = this.#start('wait')
    }, RESTART_MS)
  }

  #receive(message: FromWorker): void {
    switch (message.kind) {
      case 'opened':
        this.#opening = message.opening
        this.stats.out += this.#queue.restart(message.sequence)
        this.#resolveFlushes(message.sequence)
        this.#post()
        break
      case 'refused':
        this.#closing = Promise.resolve()
        clearInterval(this.#timer)
        void this.#worker.terminate()
        this.#settleOpen.reject(new SondeError(message.code, message.message))
        break
      case 'status':
        this.#status = message.status
        this.stats.errors = message.status.errors
        this.#settleOpen.resolve()
        break
      case 'acked':
        this.#acknowledge(message.sequence, message.dropped)
        break
      case 'answer':
        this.#take(message.id)?.resolve(message.result)
        break
      case 'failed':
        this.#take(message.id)?.reject(new SondeError(message.code, message.message))
        break
      case 'closed':
        this.#onClosed()
    }
  }

  #acknowledge(sequence: number, dropped: readonly (readonly [string, number])[]): void {
    let written = this.#queue.acknowledge(sequence)
    for (const [reason, records] of dropped) {
      countDrop(this.stats, reason, records)
      written -= records
    }
    this.stats.out += written
    this.#ackedMs = this.#sealedMs.get(sequence) ?? this.#ackedMs
    this.#sealedMs.delete(sequence)
    this.#resolveFlushes(sequence)
    this.#post()
  }

  #resolveFlushes(sequence: number): void {
    while ((this.#flushes[0]?.sequence ?? Number.POSITIVE_INFINITY) <= sequence) this.#flushes.shift()?.resolve()
  }

  #post(): void {
    if (this.#opening === 0) return
    for (;;) {
      const next = this.#queue.post(IN_FLIGHT_LIMIT)
      if (next === undefined) return
      this.#sealedMs.set(next.page.sequence, Date.now())
      this.#send({ kind: 'page', opening: this.#opening, ...next })
    }
  }

  #send(message: ToWorker): void {
    this.#worker.postMessage(message)
  }

  #call(make: (id: number) => ToWorker): Promise<QueryAnswer | readonly StoredBatch[] | undefined> {
    if (this.#closing !== undefined) return Promise.reject(new SondeError('STO_CLOSED', 'the store is closed'))
    if (this.#calls.size >= CALL_COUNT_LIMIT) {
      const message = `${CALL_COUNT_LIMIT} questions wait for an answer; ask again later`
      return Promise.reject(new SondeError('STO_BUSY', message))
    }
    const id = this.#nextCall++
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject })
      this.#send(make(id))
    })
  }

  #take(id: number): Call | undefined {
    const call = this.#calls.get(id)
    this.#calls.delete(id)
    return call
  }

  #failCalls(error: Error): void {
    for (const { reject } of this.#calls.values()) reject(error)
    this.#calls.clear()
  }
}

function batchOf({ type, source, clock, texts, count, bytes }: StoredBatch): Batch {
  return { type: typeOfDefinition(type), source: { ...source, symbols: symbolsOf(texts) }, clock, count, bytes }
}

/** Waits for a promise, but no longer than that; leaves no timer behind. */
async function within(promise: Promise<void>, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs)
  })
  await Promise.race([promise, limit])
  clearTimeout(timer)
}
