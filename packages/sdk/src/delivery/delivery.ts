import { messageOf } from '../errors.ts'
import { processTimers, type Timers, within } from '../internal/timers.ts'
import type { Batch, PageId } from '../schema/batch.ts'
import { Backpressure, causeOfBlockedLoop } from '../sink/backpressure.ts'
import { ClientLosses } from '../sink/client-losses.ts'
import { FlushError, NO_RECORDS } from '../sink/flush-error.ts'
import type { Sink, SinkStats } from '../sink/sink.ts'
import { Untold } from '../sink/untold.ts'
import { DTB_LIMITS } from '../wire/dtb/format.ts'
import { type CheckedLimits, checkDeliveryLimits, type DeliveryLimits, type SeriesLimits } from './config.ts'
import { DeadLetters, type OnReject } from './dead-letters.ts'
import { DiskQueue } from './disk-queue/disk-queue.ts'
import { type DropReason, Ledger, type OnLoss } from './ledger.ts'
import { LetterBox } from './letter-box.ts'
import { MemoryQueue } from './memory-queue.ts'
import { type DeliveryQueue, type DurableQueue, entryBytes } from './queue.ts'
import { Requests } from './requests.ts'
import { type Send, Sender } from './sender.ts'
import { splitBatch } from './split-batch.ts'

/**
 * The parts of a push sink for {@link delivery}: encoder, transport and options. `P` is one encoded request for the
 * transport.
 */
export interface DeliveryOptions<P> extends DeliveryLimits, SeriesLimits {
  /** Name of the sink; the component in its loss records. */
  name: string
  /**
   * Encodes batches, in order, as one request. Pure and synchronous. `undefined`: this destination can carry none of
   * their records. If it throws, only the faulty batch is dropped.
   */
  encode: (batches: readonly Batch[]) => P | undefined
  /** Makes one attempt; see {@link Send}. */
  send: Send<P>
  /** Releases the transport. Called once, at the end of `close`, which waits for at most `closeTimeoutMs`. */
  close?: () => void | Promise<void>
  /**
   * Called with each request that the destination will never accept. Only `close` waits for it. Default: these requests
   * are only counted.
   */
  onReject?: OnReject<P>
  /** Called with records of `sonde_loss`, at most one a second and reason. Default: drops are only counted. */
  onLoss?: OnLoss
  /** The queue. Default: on disk with `queueDir`, else in memory; then a record is acknowledged when it has arrived. */
  queue?: DeliveryQueue
  /** Timers. Default: those of the process. */
  timers?: Timers
  /**
   * How long the next attempt has to wait, for a limit of bytes a second. Asked before each attempt. Unit:
   * milliseconds. Default: attempts do not wait.
   */
  waitMs?: () => number
  /** Random numbers from 0 to 1 for the pauses. Default: `Math.random`. */
  random?: () => number
}

/**
 * A push sink. `stats.in = stats.out + dropped + queuedRecords` holds at every moment. Records that a durable queue
 * kept from an earlier process count as `in` again.
 */
export interface DeliverySink extends Sink {
  /** Accepted records that are neither sent nor dropped. */
  readonly queuedRecords: number
  /** Size of the queued records, as limits count it. Unit: bytes. */
  readonly queuedBytes: number
  /**
   * The age of the oldest record that has not arrived: 0 with an empty queue, undefined until the first record of an
   * earlier process is read. Unit: seconds.
   */
  readonly lagS: number | undefined
  /** The last error; empty after a request has arrived. */
  readonly failing: string
  /**
   * Dead letters that were only counted, because `onReject` was busy with `deadLettersMax` others, and records that the
   * files of `deadLetters` do not have.
   */
  readonly lettersOverflowed: number
  /**
   * `accept` for a producer that can wait. `false`: the queue is full and its policy is `block`; no record was kept or
   * counted. Wait for {@link whenRoom} and offer the batch again.
   */
  offer(batch: Batch): boolean
  /**
   * Resolves when a batch has left the queue, at once if the queue is empty, and when delivery closes. Unlike `ready`,
   * it waits without a limit.
   */
  whenRoom(): Promise<void>
  /**
   * Resolves when every record accepted before the call is acknowledged: it has arrived or, with a durable queue, is
   * written to disk. Sends without lingering; may take as long as the retries.
   *
   * @throws FlushError `DLV_LOST` if records were dropped since the last flush or during this flush; `not_encoded` is
   * no loss.
   */
  flush(): Promise<void>
}

/**
 * Makes a push sink from an encoder and a transport: adds queue, batches, retries, timeouts and counts. The contract is
 * `docs/delivery.md`.
 *
 * @throws SondeError `DLV_OPTION` if a limit is out of range.
 */
export function delivery<P>(options: DeliveryOptions<P>): DeliverySink {
  return new Delivery(options)
}

/** How long a queue on disk may take to close. Unit: milliseconds. */
const KEEP_LIMIT_MS = 1000

class Delivery<P> implements DeliverySink {
  readonly name: string
  readonly #limits: CheckedLimits
  readonly #queue: DeliveryQueue
  readonly #timers: Timers
  readonly #ledger: Ledger
  readonly #letters: DeadLetters<P>
  readonly #sender: Sender<P>
  readonly #requests: Requests<P>
  readonly #closeTransport: () => void | Promise<void>
  /** Promises of batches that are not acknowledged; none rejects. */
  readonly #pending = new Set<Promise<void>>()
  readonly #untold: Untold
  /** Where producers wait for the far end, and for the disk. */
  readonly #producers: Backpressure
  readonly #writes: Backpressure | undefined
  readonly #losses = new ClientLosses()
  /** Whether the last batches that the queue refused came in one turn of the event loop. */
  #isLoopBlocked = false
  #room: PromiseWithResolvers<void> | undefined
  #closing: Promise<void> | undefined

  constructor(options: DeliveryOptions<P>) {
    const { name, encode, send, close, onReject, onLoss } = options
    const limits = checkDeliveryLimits(options)
    const timers = options.timers ?? processTimers
    const queue = options.queue ?? queueOf(name, limits, timers)
    const ledger = new Ledger(name, timers, onLoss)
    const onFailure = (error: unknown) => {
      ledger.fail(error)
      if (this.#closing !== undefined) this.#signalRoom()
    }
    const letters = new DeadLetters({
      onReject,
      box: boxOf(name, limits, onFailure),
      countLimit: limits.deadLettersMax,
      onFailure,
    })
    const sender = new Sender(send, limits, timers, options.random ?? Math.random, onFailure, options.waitMs)
    const onRoom = () => {
      this.#signalRoom()
      this.#producers.left(queue.bytes)
    }
    this.name = name
    this.#limits = limits
    this.#queue = queue
    this.#timers = timers
    this.#ledger = ledger
    this.#untold = new Untold(ledger.stats, (reason) => this.causeOf(reason))
    const { durable } = queue
    // A queue on disk holds an outage; it keeps producers waiting only where its policy says so, and then without end.
    const stallMs = durable === undefined ? {} : { stallMs: Number.POSITIVE_INFINITY }
    this.#producers = new Backpressure({ limitBytes: limits.queueLimitBytes, timers, ...stallMs })
    this.#writes = durable && new Backpressure({ limitBytes: durable.unwrittenLimitBytes, timers })
    this.#letters = letters
    this.#sender = sender
    this.#requests = new Requests({ queue, ledger, letters, sender, encode, limits, timers, onRoom })
    this.#closeTransport = close ?? (() => undefined)
    this.stats.in = queue.records
    if (durable !== undefined) this.#attach(durable, onRoom)
    this.#requests.pump()
  }

  get stats(): SinkStats {
    return this.#ledger.stats
  }

  get durable(): boolean {
    return this.#queue.durable !== undefined
  }

  get failing(): string {
    return this.#ledger.failing
  }

  get queuedRecords(): number {
    return this.#queue.records
  }

  get queuedBytes(): number {
    return this.#queue.bytes
  }

  get lagS(): number | undefined {
    return this.#queue.records === 0 ? 0 : this.#requests.lagS
  }

  get lettersOverflowed(): number {
    return this.#letters.overflowed
  }

  accept(batch: Batch): void {
    this.#admit(batch, { mayRefuse: false })
  }

  offer(batch: Batch): boolean {
    return this.#admit(batch, { mayRefuse: this.#limits.queuePolicy === 'block' })
  }

  whenRoom(): Promise<void> {
    return this.#closing !== undefined || this.#queue.records === 0 ? Promise.resolve() : this.#nextRoom()
  }

  ready(): Promise<void> | undefined {
    const { bytes, durable } = this.#queue
    if (durable === undefined) return this.#producers.wait(bytes)
    const written = this.#writes?.wait(durable.unwrittenBytes)
    return written ?? (this.#limits.queuePolicy === 'block' ? this.#producers.wait(bytes) : undefined)
  }

  lastPage?: (client: bigint) => Promise<bigint>
  skip?: (page: PageId) => void
  takeLost?: (client: bigint, upTo: bigint) => ReadonlyMap<bigint, number>
  flushClient?: (client: bigint) => Promise<void>

  causeOf(reason: string): string {
    if (reason === 'queue_full' && this.#isLoopBlocked) return causeOfBlockedLoop('queueLimitBytes')
    return this.#ledger.words(reason)
  }

  async flush(): Promise<void> {
    const { told } = this.#untold
    await this.#requests.hasten(Promise.all(this.#pending))
    const { lost, words } = this.#untold.tell(told)
    if (words === '') return
    const message = `${this.name} ${words}; docs/delivery.md says what to do`
    throw new FlushError('DLV_LOST', message, { ...NO_RECORDS, lost })
  }

  close(): Promise<void> {
    this.#producers.open()
    this.#writes?.open()
    this.#closing ??= this.#shutDown()
    return this.#closing
  }

  #admit(batch: Batch, { mayRefuse }: { readonly mayRefuse: boolean }): boolean {
    const startMs = this.#timers.nowMs()
    // A queue on disk splits what it reads: a page of a client is whole in it, or is not there.
    const pieces = this.durable ? wholeBatch(batch) : splitBatch(batch, this.#limits)
    const reason = this.#obstacle(batch, pieces)
    const refused = mayRefuse && reason === 'queue_full'
    if (!refused) {
      this.stats.in += batch.count
      if (reason === undefined) for (const piece of pieces) this.#append(piece)
      else this.#drop(reason, batch)
      this.#requests.pump()
    }
    this.stats.seconds += (this.#timers.nowMs() - startMs) / 1000
    return !refused
  }

  /** The reason for which a batch cannot be queued. Drops older batches first if the policy allows it. */
  #obstacle(batch: Batch, pieces: readonly Batch[]): DropReason | undefined {
    if (this.#closing !== undefined) return 'closed'
    if (batch.bytes.byteLength !== batch.count * batch.type.layout.recordBytes) return 'wrong_size'
    const { queueLimitBytes, queuePolicy } = this.#limits
    const needed = pieces.reduce((bytes, piece) => bytes + entryBytes(piece), 0)
    const blockLimitBytes = this.durable ? DTB_LIMITS.payloadBytes : Number.POSITIVE_INFINITY
    if (needed > queueLimitBytes || batch.bytes.byteLength > blockLimitBytes) return 'too_large'
    this.#producers.entering(this.#queue.bytes)
    const missing = this.#queue.bytes + needed - queueLimitBytes
    if (missing <= 0) return undefined
    this.#isLoopBlocked = this.#producers.isLoopBlocked
    // Batches that are being sent cannot be dropped. If all waiting batches are too small, none is dropped in vain.
    if (queuePolicy !== 'drop_oldest' || this.#queue.evictableBytes < missing) return 'queue_full'
    this.#ledger.drop('queue_full', this.#queue.evict(missing))
    this.#signalRoom()
    return undefined
  }

  #append(piece: Batch): void {
    if (this.#queue.records === 0) this.#requests.enter(piece)
    const { count, page } = piece
    const acknowledged = this.#queue
      .append(piece)
      .then(
        (result) => {
          if (result === 'kept') return
          this.stats.out += count
          this.stats.duplicates += count
        },
        (error) => {
          this.#ledger.fail(error)
          this.#drop('queue_failed', { count, page }, messageOf(error))
        },
      )
      .finally(() => {
        this.#pending.delete(acknowledged)
        this.#written()
      })
    this.#pending.add(acknowledged)
  }

  #drop(reason: DropReason, { count, page }: Pick<Batch, 'count'> & { page?: PageId | undefined }, words = ''): void {
    this.#ledger.drop(reason, count, words)
    if (this.durable) this.#losses.add(page, count)
    this.#signalRoom()
  }

  #attach(durable: DurableQueue, onRoom: () => void): void {
    durable.attach({
      found: (records) => {
        this.stats.in += records
        this.#requests.pump()
      },
      expired: (records) => {
        this.#ledger.drop('queue_expired', records)
        onRoom()
      },
      failed: (error) => this.#ledger.fail(error),
    })
    this.lastPage = (client) => durable.lastPage(client)
    this.skip = (page) => durable.skip(page)
    this.takeLost = (client, upTo) => this.#losses.take(client, upTo)
    this.flushClient = async () => void (await Promise.all(this.#pending))
  }

  /** A batch was written to the disk, or could not be. */
  #written(): void {
    const { durable } = this.#queue
    if (durable !== undefined) this.#writes?.left(durable.unwrittenBytes)
  }

  #nextRoom(): Promise<void> {
    this.#room ??= Promise.withResolvers()
    return this.#room.promise
  }

  #signalRoom(): void {
    this.#room?.resolve()
    this.#room = undefined
  }

  async #shutDown(): Promise<void> {
    const deadlineMs = this.#timers.nowMs() + this.#limits.closeTimeoutMs
    const untilDeadline = (promise: Promise<unknown>) =>
      within(this.#timers, deadlineMs - this.#timers.nowMs(), promise)
    const sent = this.#requests.hasten(Promise.all([...this.#pending, this.#drained()]))
    this.#sender.hurry()
    await untilDeadline(sent)
    await untilDeadline(this.#requests.stop())
    if (!this.durable) this.#ledger.drop('closed', this.#queue.evict(Number.POSITIVE_INFINITY))
    this.#signalRoom()
    const released = untilDeadline(Promise.all([this.#letters.close(), this.#releaseTransport()]))
    // What waits for a far end must not cost what a disk needs to keep it.
    const keepMs = this.durable ? KEEP_LIMIT_MS : deadlineMs - this.#timers.nowMs()
    await Promise.all([released, within(this.#timers, keepMs, this.#queue.close())])
    this.#queue.durable?.giveUp()
    await Promise.all(this.#pending)
    this.#ledger.close()
  }

  /** A queue on disk can be sent later: it is sent now as long as all goes well. */
  async #drained(): Promise<void> {
    const { errors } = this.stats
    while (this.durable && this.#queue.records > 0 && this.stats.errors === errors) await this.#nextRoom()
  }

  async #releaseTransport(): Promise<void> {
    try {
      await this.#closeTransport()
    } catch (error) {
      this.#ledger.fail(error)
    }
  }
}

function queueOf(name: string, limits: CheckedLimits, timers: Timers): DeliveryQueue {
  const { queueDir, queueLimitBytes, queueAgeMaxS } = limits
  if (queueDir === undefined) return new MemoryQueue()
  const nowMs = () => timers.nowMs()
  return new DiskQueue({ folder: queueDir, name, limitBytes: queueLimitBytes, ageMaxS: queueAgeMaxS, nowMs })
}

function boxOf(
  name: string,
  { deadLetters, deadLettersLimitBytes }: CheckedLimits,
  onFailure: (error: unknown) => void,
): LetterBox | undefined {
  if (deadLetters === undefined) return undefined
  return new LetterBox({ name, folder: deadLetters, limitBytes: deadLettersLimitBytes, onFailure })
}

function wholeBatch(batch: Batch): readonly Batch[] {
  return batch.count > 0 ? [batch] : []
}
