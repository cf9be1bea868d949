import { randomUUID } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { type Batch, countDrop, type SinkStats, SondeError, type SourceInfo, sinkStats } from '@sonde/sdk'
import {
  type Asker,
  ClientLosses,
  droppedTotal,
  messageOf,
  type QueryAnswer,
  type QueryRequest,
  within,
} from '@sonde/sdk/internal'
import { Calls } from './calls.ts'
import { keptSentence, type StoreSettings } from './config.ts'
import { LastPages } from './last-pages.ts'
import { PageQueue } from './pages.ts'
import type {
  EndedNames,
  FileStatus,
  FromWorker,
  RecordsRequest,
  StoredAnswer,
  StoredBatch,
  StoredTypes,
  ToWorker,
  WorkerStart,
  Written,
} from './protocol.ts'
import { StallWatch } from './stall-watch.ts'
import type { Store, StoreStatus, Unwritten } from './store.ts'
import { batchOf } from './texts.ts'

const IN_FLIGHT_LIMIT = 2
const RESTART_MS = 1000
/** Above this share of computing time the thread is the bottleneck, not the disk. */
const PROCESSOR_PART = 1 / 2
/** How long the worker may take to close a file after everything is written. */
const WORKER_CLOSE_MS = 500
/**
 * V8 frees the bytes of rows that were read once they reach twice this size, by default 32 MiB. The process keeps the
 * memory that they took. Unit: MiB.
 */
const YOUNG_MIB = 1
/**
 * How long a start waits for the file, because a disk that hangs must not prevent a start. Salvage of a damaged file
 * takes less.
 */
const OPEN_LIMIT_MS = 15_000

interface Flush {
  /** Waits for records of this client; undefined: of all clients. */
  readonly client: bigint | undefined
  /** The last page that it waits for. */
  readonly number: number
  readonly resolve: () => void
}

/**
 * The main thread's half of the store: it holds records until they are written, and starts a new worker if one died.
 */
export class EmbeddedStore implements Store {
  readonly name = 'store'
  readonly durable = true
  readonly stats: SinkStats = sinkStats()
  /** Settles after the worker has tried to open the file for the first time. */
  readonly opened: Promise<void>
  unwritten: Unwritten | undefined
  onFault: (error: unknown) => void = () => undefined
  onEnded: (ended: EndedNames) => void = () => undefined
  readonly #settings: StoreSettings
  readonly #workerFile: URL
  readonly #session = randomUUID()
  readonly #losses = new ClientLosses()
  readonly #queue: PageQueue
  readonly #calls: Calls
  readonly #timer: NodeJS.Timeout
  #flushes: Flush[] = []
  readonly #sealedMs = new Map<number, number>()
  readonly #lastPages = new LastPages()
  readonly #stall: StallWatch
  #worker: Worker
  #status: FileStatus
  #ackedMs = 0
  /** Number of lost records at the end of the last flush. */
  #lostBefore = 0
  /** The opening of the file that pages are sent for; 0 before the first opening, when no page is sent. */
  #opening = 0
  /** Whether the worker has sent a message since its start: messages to a dead worker are lost. */
  #isUp = false
  /** Errors of workers that ended, plus one for each ended worker. */
  #earlierErrors = 0
  #closing: Promise<void> | undefined
  #settleOpen: { resolve: () => void; reject: (error: Error) => void }
  #onClosed: () => void = () => undefined

  /** @param worker Module of the worker. */
  constructor(settings: StoreSettings, worker: URL) {
    this.#workerFile = worker
    this.#settings = settings
    this.#queue = new PageQueue(settings.queueLimitBytes, this.stats, this.#losses)
    this.#calls = new Calls(settings.queryLimitMs)
    this.#stall = new StallWatch(settings.stallLimitMs)
    this.#status = {
      state: 'failing',
      reason: `${settings.path} is not open yet: its disk is slow or hangs, or what a damaged file holds is being carried over`,
      bytes: 0,
      freeBytes: 0,
      oldestMs: null,
      corruptChunks: 0,
      errors: 0,
      backlogBytes: 0,
      processorPart: undefined,
      names: {},
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.opened = promise
    this.#settleOpen = { resolve, reject }
    setTimeout(resolve, OPEN_LIMIT_MS).unref()
    this.#worker = this.#start('refuse')
    this.#timer = setInterval(() => {
      this.#post()
      this.#guard(() => this.#watch())
    }, settings.flushIntervalMs)
    this.#timer.unref()
  }

  get queueLimitBytes(): number {
    return this.#settings.queueLimitBytes
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

  retire(source: SourceInfo): void {
    this.#queue.retire(source)
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

  flushClient(client: bigint): Promise<void> {
    return this.#written(client)
  }

  /** Resolves when every record accepted so far is written or dropped; with a client, every record of that client. */
  #written(client?: bigint): Promise<void> {
    const { lastNumber } = this.#queue
    if (!this.#queue.isPending(lastNumber, client)) return Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#flushes.push({ client, number: lastNumber, resolve })
    this.#post()
    return promise
  }

  async lastPage(client: bigint): Promise<bigint> {
    return this.#lastPages.of(client)
  }

  takeLost(client: bigint, upTo: bigint): ReadonlyMap<bigint, number> {
    return this.#losses.take(client, upTo)
  }

  status(): StoreStatus {
    // The use of the processor is for the sentence about a slow thread.
    const { processorPart: _, ...reported } = this.#status
    const status = {
      ...reported,
      ackedMs: this.#ackedMs,
      queuedBytes: this.#queue.bytes,
      errors: this.#errors,
      names: { ...this.#status.names, ...this.#queue.names, lastPages: this.#lastPages.count },
    }
    const { since } = this.#stall
    if (status.state === 'failing') return status
    if (since === undefined) return status.reason === '' ? { ...status, reason: this.#behindSentence } : status
    return {
      ...status,
      state: 'failing',
      reason: `nothing was written to ${this.#settings.path} since ${since}; look whether its disk hangs, or the processor is overloaded: ${keptSentence(this.#settings)}`,
    }
  }

  /** The waiting flushes by client, if some clients wait; else empty. */
  get #behindSentence(): string {
    const { behindCount } = this.#queue
    if (behindCount === 0) return ''
    const who = behindCount === 1 ? '1 client brings' : `${behindCount} clients bring`
    return `${who} more new series than are stored at a time: their records wait for the processor, those of others do not`
  }

  /** The reason why waiting records were not written in time. */
  get #slowSentence(): string {
    if (this.#queue.behindCount > 0) return this.#behindSentence
    const { processorPart = 0 } = this.#status
    if (processorPart > PROCESSOR_PART) return 'its thread had too much to compute; report less, or fewer new series'
    return 'its disk was not fast enough, or other programs had the processor; look which of them is overloaded'
  }

  async query(request: QueryRequest, asker?: Asker): Promise<QueryAnswer> {
    return (await this.#ask((id) => ({ kind: 'query', id, request }), asker)) as QueryAnswer
  }

  async records(request: RecordsRequest): Promise<readonly Batch[]> {
    const batches = await this.#ask((id) => ({ kind: 'records', id, request }))
    return (batches as readonly StoredBatch[]).map(batchOf)
  }

  async types(except: readonly string[]): Promise<StoredTypes> {
    return (await this.#ask((id) => ({ kind: 'types', id, request: { except } }))) as StoredTypes
  }

  async maintain(): Promise<void> {
    if (this.#closing !== undefined) throw isClosed()
    await this.#calls.start((id) => this.#send({ kind: 'maintain', id }))
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await within(this.#settings.closeLimitMs, this.#written())
    clearInterval(this.#timer)
    const { bytes, records } = this.#queue
    const { state, reason } = this.status()
    if (records > 0) this.unwritten = { records, bytes, reason: state === 'failing' ? reason : this.#slowSentence }
    this.#dropQueued()
    const closed = new Promise<void>((resolve) => {
      this.#onClosed = resolve
    })
    this.#send({ kind: 'close' })
    await within(WORKER_CLOSE_MS, closed)
    this.#calls.rejectAll(new SondeError('STO_CLOSED', 'the store was closed before it answered'))
    // A thread that waits for a disk that hangs does not end.
    await within(WORKER_CLOSE_MS, this.#worker.terminate())
  }

  #start(whenLocked: WorkerStart['whenLocked']): Worker {
    const start: WorkerStart = { settings: this.#settings, session: this.#session, whenLocked }
    const worker = new Worker(this.#workerFile, {
      workerData: start,
      name: 'sonde-store',
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MIB },
    })
    worker.on('message', (message: FromWorker) => this.#guard(() => this.#receive(message)))
    worker.on('error', (error) => this.#guard(() => this.#crashed(worker, messageOf(error))))
    worker.on('exit', (code) => this.#guard(() => this.#crashed(worker, `it ended with code ${code}`)))
    return worker
  }

  /**
   * A fault of Sonde ends neither the process nor the store. The worker may have an incomplete state, so a new worker
   * gets everything again.
   */
  #guard(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#earlierErrors++
      this.onFault(error)
      if (!this.#isUp) return
      const worker = this.#worker
      this.#crashed(worker, messageOf(error))
      void worker.terminate()
    }
  }

  /** The worker died: its pages without acknowledgement are sent to a new worker. */
  #crashed(worker: Worker, reason: string): void {
    if (worker !== this.#worker || this.#closing !== undefined) {
      this.#onClosed()
      return
    }
    this.#isUp = false
    this.#earlierErrors += this.#status.errors + 1
    this.#status = {
      ...this.#status,
      state: 'failing',
      reason: `the store's worker stopped (${reason}); it is started again`,
      errors: 0,
    }
    this.stats.errors = this.#errors
    this.#calls.rejectAll(new SondeError('STO_WORKER', 'the store was restarted before it answered; ask again'))
    this.#opening = 0
    this.#worker.removeAllListeners()
    this.#worker.on('error', () => undefined)
    this.#startLater()
  }

  #startLater(): void {
    setTimeout(() => {
      if (this.#closing !== undefined) return
      try {
        this.#worker = this.#start('wait')
      } catch (error) {
        this.onFault(error)
        this.#startLater()
      }
    }, RESTART_MS)
  }

  #receive(message: FromWorker): void {
    this.#isUp = true
    switch (message.kind) {
      case 'opened':
        this.#opening = message.opening
        this.#lastPages.restart(message.clients, Date.now())
        this.#stall.progress()
        this.stats.out += this.#queue.restart(message.sequence)
        this.#sealedMs.clear()
        this.#resolveFlushes()
        this.#post()
        break
      case 'refused':
        this.#refuse(new SondeError(message.code, message.message))
        break
      case 'status':
        this.#status = message.status
        this.stats.errors = this.#errors
        this.#settleOpen.resolve()
        this.#askNext()
        break
      case 'ended':
        this.onEnded(message.ended)
        break
      case 'acked':
        this.#acknowledge(message.sequence, message)
        break
      case 'part':
        this.#calls.take(message.id, message.part)
        // In a later turn, because parts in the same turn would block the loop as long as the whole answer.
        setImmediate(() => this.#send({ kind: 'more', id: message.id }))
        break
      case 'answer':
        this.#calls.resolve(message.id, message.result)
        this.#post()
        break
      case 'failed':
        this.#calls.reject(message.id, new SondeError(message.code, message.message))
        this.#post()
        break
      case 'closed':
        this.#onClosed()
    }
  }

  /**
   * The file cannot be opened, perhaps long after `opened` has settled: waiting records are dropped, and the loss is
   * reported.
   */
  #refuse(error: SondeError): void {
    this.#closing = Promise.resolve()
    clearInterval(this.#timer)
    void this.#worker.terminate()
    this.#status = { ...this.#status, state: 'failing', reason: error.message }
    this.#dropQueued()
    this.#calls.rejectAll(error)
    this.#settleOpen.reject(error)
    this.onFault(error)
  }

  #dropQueued(): void {
    const { records } = this.#queue
    this.#queue.clear()
    countDrop(this.stats, 'closed', records)
    for (const { resolve } of this.#flushes.splice(0)) resolve()
  }

  #acknowledge(sequence: number, { dropped, duplicates, lost, clients, behind }: Written): void {
    this.#stall.progress()
    const droppedRecords = dropped.reduce((sum, [, records]) => sum + records, 0)
    this.stats.out += this.#queue.acknowledge(sequence, behind) - droppedRecords
    for (const [reason, records] of dropped) countDrop(this.stats, reason, records)
    this.stats.duplicates += duplicates
    for (const [page, records] of lost) this.#losses.add(page, records)
    this.#lastPages.add(clients, Date.now())
    if (this.#queue.behindCount === 0) this.#ackedMs = this.#sealedMs.get(sequence) ?? this.#ackedMs
    this.#sealedMs.delete(sequence)
    this.#resolveFlushes()
    this.#post()
  }

  #resolveFlushes(): void {
    const isPending = ({ number, client }: Flush) => this.#queue.isPending(number, client)
    const [pending, done] = [this.#flushes.filter(isPending), this.#flushes.filter((flush) => !isPending(flush))]
    this.#flushes = pending
    for (const { resolve } of done) resolve()
  }

  /** Sends to the worker all that it may have: pages first, then a question. */
  #post(): void {
    this.#guard(() => {
      while (this.#opening !== 0) {
        if (this.#queue.postedCount === 0) this.#stall.begin()
        const sequence = this.#queue.post(IN_FLIGHT_LIMIT, Date.now(), (next) => {
          this.#send({ kind: 'page', opening: this.#opening, ...next })
        })
        if (sequence === undefined) break
        this.#sealedMs.set(sequence, Date.now())
      }
      this.#askNext()
    })
  }

  #send(message: ToWorker): void {
    this.#worker.postMessage(message)
  }

  #ask(make: (id: number) => ToWorker, asker?: Asker): Promise<StoredAnswer> {
    if (this.#closing !== undefined) return Promise.reject(isClosed())
    const answer = this.#calls.ask((id) => this.#send(make(id)), asker)
    this.#post()
    return answer
  }

  /**
   * Sends the next question to the worker after the records that came before it, unless writing fails.
   */
  #askNext(): void {
    const { next } = this.#calls
    if (next === undefined || !this.#isUp) return
    next.afterPage ??= this.#queue.lastNumber
    if (this.#status.state === 'writing' && this.#queue.nextNumber <= next.afterPage) return
    this.#calls.send()
  }

  #watch(): void {
    // If the worker can still report why it does not write, its reason is better.
    this.#stall.look(this.#queue.postedCount === 0 || this.#status.state !== 'writing')
    this.stats.errors = this.#errors
  }

  get #errors(): number {
    return this.#earlierErrors + this.#stall.count + this.#status.errors
  }
}

function isClosed(): SondeError {
  return new SondeError('STO_CLOSED', 'the store is closed')
}
