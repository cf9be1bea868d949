import { messageOf } from '../errors.ts'
import type { Batch } from '../schema/batch.ts'
import { type Sink, type SinkStats, sinkStats } from '../sinks/sink.ts'
import { checkDeliveryLimits, type DeliveryLimits } from './config.ts'
import { type DeadLetter, DeadLetters, type OnReject } from './dead-letters.ts'
import { LossLedger, type OnLoss } from './loss-ledger.ts'
import { MemoryQueue } from './memory-queue.ts'
import { type DeliveryQueue, entryBytes, type QueueEntry } from './queue.ts'
import { type Send, Sender } from './sender.ts'
import { splitBatch } from './split-batch.ts'
import { processTimers, type Timers, within } from './timers.ts'

/** What a push sink gives {@link delivery}: its encoder and its transport; the rest is options. `P` is one request as the transport takes it. */
export interface DeliveryOptions<P> extends DeliveryLimits {
  /** Name of the sink; the component in its loss records. */
  name: string
  /**
   * One request out of batches, in order. Pure, and synchronous. `undefined`: they hold nothing that this destination can carry. What it throws for drops the
   * batch it throws for, alone.
   */
  encode: (batches: readonly Batch[]) => P | undefined
  /** Makes one attempt; see {@link Send}. */
  send: Send<P>
  /** Releases the transport; called once, at the end of `close`, which waits for it no longer than `closeTimeoutMs`. */
  close?: () => void | Promise<void>
  /** Given each batch that the destination will never take. Never waited for. Default: they are only counted. */
  onReject?: OnReject<P>
  /** Given records of `sonde_loss`, at most one a second and reason. Default: drops are only counted. */
  onLoss?: OnLoss
  /** Default: a {@link MemoryQueue}. */
  queue?: DeliveryQueue
  /** Default: those of the process. */
  timers?: Timers
  /** Random numbers from 0 to 1 for the pauses. Default: `Math.random`. */
  random?: () => number
}

/** A push sink. `stats.in = stats.out + dropped + queuedRecords` holds at every moment. */
export interface DeliverySink extends Sink {
  /** Records accepted and neither acknowledged nor dropped. */
  readonly queuedRecords: number
  /** Their size as limits count it. */
  readonly queuedBytes: number
  /** What the last failed attempt said; empty since the last one that succeeded. */
  readonly failing: string
  /** Dead letters that `onReject` was not handed, because it had not finished with `deadLetterLimit` others. */
  readonly lettersOverflowed: number
  /**
   * `accept` for a producer that can wait. `false`: the queue is full, its policy is `block`, and nothing of the batch was kept or counted; wait for
   * {@link whenRoom} and offer it again.
   */
  offer(batch: Batch): boolean
  /** Resolves when a batch has left the queue, or delivery closes. */
  whenRoom(): Promise<void>
}

/**
 * Puts queue, batching, retry, timeouts and accounting around an encoder and a transport: a whole push sink. The contract is
 * `docs/delivery.md`.
 *
 * @throws SondeError `DLV_OPTION` where a limit is out of range.
 */
export function delivery<P>(options: DeliveryOptions<P>): DeliverySink {
  return new Delivery(options)
}

/** Why delivery drops records. */
type DropReason =
  | 'queue_full'
  | 'too_large'
  | 'queue_failed'
  | 'not_encoded'
  | 'encode_failed'
  | 'rejected'
  | 'retry_limit'
  | 'closed'

class Delivery<P> implements DeliverySink {
  readonly name: string
  readonly stats: SinkStats = sinkStats()
  failing = ''
  readonly #options: DeliveryOptions<P>
  readonly #limits: Readonly<Required<DeliveryLimits>>
  readonly #queue: DeliveryQueue
  readonly #timers: Timers
  readonly #sender: Sender<P>
  readonly #ledger: LossLedger
  readonly #letters: DeadLetters<P>
  /** Requests under way. */
  readonly #runs = new Set<Promise<void>>()
  /** Batches that are not acknowledged; none of the promises rejects. */
  readonly #pending = new Set<Promise<void>>()
  #room: PromiseWithResolvers<void> | undefined
  /** Who wants records to go now rather than linger: flushes, and closing. */
  #urgent = 0
  #lingered = false
  #cancelLinger: (() => void) | undefined
  #closing: Promise<void> | undefined

  constructor(options: DeliveryOptions<P>) {
    this.name = options.name
    this.#options = options
    this.#limits = checkDeliveryLimits(options)
    this.#queue = options.queue ?? new MemoryQueue()
    this.#timers = options.timers ?? processTimers
    const random = options.random ?? Math.random
    this.#sender = new Sender(options.send, this.#limits, this.#timers, random, (reason) => this.#fail(reason))
    this.#ledger = new LossLedger(options.name, this.stats, this.#timers, options.onLoss)
    this.#letters = new DeadLetters(options.onReject, this.#limits.deadLetterLimit, (error) => this.#fail(error))
  }

  get queuedRecords(): number {
    return this.#queue.records
  }

  get queuedBytes(): number {
    return this.#queue.bytes
  }

  get lettersOverflowed(): number {
    return this.#letters.overflowed
  }

  accept(batch: Batch): void {
    this.#admit(batch, false)
  }

  offer(batch: Batch): boolean {
    return this.#admit(batch, this.#limits.queuePolicy === 'block')
  }

  whenRoom(): Promise<void> {
    if (this.#closing !== undefined) return Promise.resolve()
    this.#room ??= Promise.withResolvers()
    return this.#room.promise
  }

  async flush(): Promise<void> {
    this.#urgent++
    this.#pump()
    await Promise.all(this.#pending)
    this.#urgent--
  }

  close(): Promise<void> {
    this.#closing ??= this.#shutDown()
    return this.#closing
  }

  #admit(batch: Batch, mayRefuse: boolean): boolean {
    const startMs = this.#timers.nowMs()
    const pieces = splitBatch(batch, this.#limits)
    const reason = this.#obstacle(pieces)
    const refused = mayRefuse && reason === 'queue_full'
    if (!refused) {
      this.stats.in += batch.count
      if (reason === undefined) for (const piece of pieces) this.#append(piece)
      else this.#ledger.drop(reason, batch.count)
      this.#pump()
    }
    this.stats.seconds += (this.#timers.nowMs() - startMs) / 1000
    return !refused
  }

  /** Why the batch cannot be queued; makes room for it where the policy says so. */
  #obstacle(pieces: readonly Batch[]): DropReason | undefined {
    if (this.#closing !== undefined) return 'closed'
    const { queueLimitBytes, queuePolicy } = this.#limits
    const needed = pieces.reduce((bytes, piece) => bytes + entryBytes(piece), 0)
    if (needed > queueLimitBytes) return 'too_large'
    while (this.#queue.bytes + needed > queueLimitBytes) {
      const oldest = queuePolicy === 'drop_oldest' ? this.#queue.evict() : undefined
      if (oldest === undefined) return 'queue_full'
      this.#dropped([oldest], 'queue_full')
    }
    return undefined
  }

  #append(piece: Batch): void {
    const { count } = piece
    const acknowledged = this.#queue
      .append(piece)
      .catch((error) => {
        this.#fail(error)
        this.#ledger.drop('queue_failed', count)
      })
      .finally(() => this.#pending.delete(acknowledged))
    this.#pending.add(acknowledged)
  }

  /** Starts as many requests as may be under way now; called after everything that could allow one. */
  #pump(): void {
    while (this.#queue.waitingRecords > 0 && this.#runs.size < this.#limits.concurrency && !this.#sender.stopped) {
      if (!this.#isRipe()) {
        this.#cancelLinger ??= this.#timers.after(this.#limits.lingerMs, () => {
          this.#cancelLinger = undefined
          this.#lingered = true
          this.#pump()
        })
        return
      }
      this.#lingered = false
      this.#cancelLinger?.()
      this.#cancelLinger = undefined
      const run = this.#run().finally(() => {
        this.#runs.delete(run)
        this.#pump()
      })
      this.#runs.add(run)
    }
  }

  #isRipe(): boolean {
    const { batchRecordsMax, batchBytesMax, lingerMs } = this.#limits
    if (this.#urgent > 0 || this.#lingered || lingerMs === 0) return true
    return this.#queue.waitingRecords >= batchRecordsMax || this.#queue.waitingBytes >= batchBytesMax
  }

  /**
   * One request, from the queue to its end. One that the encoder or the far end refuses is halved and tried again, until the batch that is to blame
   * stands alone and its neighbours are through.
   */
  async #run(): Promise<void> {
    const parts = [await this.#queue.take(this.#limits.batchRecordsMax, this.#limits.batchBytesMax)]
    for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
      if (part.length === 0) continue
      const refused = await this.#deliver(part)
      const [only, next] = part
      if (refused !== undefined && next !== undefined) {
        const half = part.length >> 1
        parts.push(part.slice(half), part.slice(0, half))
      } else if (refused !== undefined && only !== undefined) {
        this.#release(part)
        this.#dropped(part, refused.cause)
        this.#letters.put({ ...refused, batch: only.batch })
      }
      // A transport that answers at once must not keep the event loop to itself.
      await new Promise<void>((resolve) => this.#timers.after(0, resolve))
    }
  }

  /** Encodes and sends; settles the part unless it is refused, which it then says. */
  async #deliver(part: readonly QueueEntry[]): Promise<Omit<DeadLetter<P>, 'batch'> | undefined> {
    if (this.#sender.stopped) {
      this.#putBack(part)
      return undefined
    }
    let payload: P | undefined
    try {
      payload = this.#options.encode(part.map(({ batch }) => batch))
    } catch (error) {
      this.#fail(error)
      return { cause: 'encode_failed', reason: messageOf(error) }
    }
    if (payload === undefined) {
      this.#release(part)
      this.#dropped(part, 'not_encoded')
      return undefined
    }
    const verdict = await this.#sender.deliver(payload)
    if (verdict.outcome === 'reject') return { cause: 'rejected', reason: verdict.reason, payload }
    if (verdict.outcome === 'stopped') {
      this.#putBack(part)
    } else if (verdict.outcome === 'expired') {
      this.#release(part)
      this.#dropped(part, 'retry_limit')
    } else {
      this.failing = ''
      this.stats.out += recordsOf(part)
      this.#release(part)
    }
    return undefined
  }

  #putBack(part: readonly QueueEntry[]): void {
    for (const { id } of part) this.#queue.nack(id)
  }

  #release(part: readonly QueueEntry[]): void {
    for (const { id } of part) this.#queue.ack(id)
    this.#signalRoom()
  }

  #dropped(part: readonly QueueEntry[], reason: DropReason): void {
    this.#ledger.drop(reason, recordsOf(part))
    this.#signalRoom()
  }

  #signalRoom(): void {
    this.#room?.resolve()
    this.#room = undefined
  }

  #fail(error: unknown): void {
    this.stats.errors++
    this.failing = typeof error === 'string' ? error : messageOf(error)
  }

  async #shutDown(): Promise<void> {
    const deadlineMs = this.#timers.nowMs() + this.#limits.closeTimeoutMs
    const untilDeadline = (promise: Promise<unknown>) =>
      within(this.#timers, deadlineMs - this.#timers.nowMs(), promise)
    this.#urgent++
    this.#pump()
    this.#sender.hurry()
    await untilDeadline(Promise.all(this.#pending))
    this.#sender.stop()
    await Promise.all(this.#runs)
    if (!this.#queue.durable) {
      for (let left = this.#queue.evict(); left !== undefined; left = this.#queue.evict())
        this.#dropped([left], 'closed')
    }
    this.#cancelLinger?.()
    this.#signalRoom()
    await this.#queue.close()
    await untilDeadline(Promise.all([this.#letters.settled(), this.#closeTransport()]))
    this.#ledger.report()
  }

  async #closeTransport(): Promise<void> {
    try {
      await this.#options.close?.()
    } catch (error) {
      this.#fail(error)
    }
  }
}

function recordsOf(entries: readonly QueueEntry[]): number {
  return entries.reduce((records, { batch }) => records + batch.count, 0)
}
