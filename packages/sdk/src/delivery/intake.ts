import { messageOf } from '../errors.ts'
import type { Timers } from '../internal/timers.ts'
import type { Batch, PageId } from '../schema/batch.ts'
import { Backpressure, causeOfBlockedLoop } from '../sink/backpressure.ts'
import { ClientLosses } from '../sink/client-losses.ts'
import { DTB_LIMITS } from '../wire/dtb/format.ts'
import type { CheckedLimits } from './config.ts'
import type { DropReason, Ledger } from './ledger.ts'
import { type DeliveryQueue, entryBytes } from './queue.ts'
import { splitBatch } from './split-batch.ts'

/** Options of {@link Intake}. */
export interface IntakeParts {
  readonly queue: DeliveryQueue
  readonly ledger: Ledger
  readonly limits: CheckedLimits
  readonly timers: Timers
  /** A batch comes into the empty queue. */
  readonly onFirst: (batch: Batch) => void
}

/** A batch, as far as its loss is counted. */
type Counted = Pick<Batch, 'count'> & { readonly page?: PageId | undefined }

/** Puts batches into the queue, or drops and counts them; and has their producers wait for room. */
export class Intake {
  /** Records that were dropped here, by page of a client. */
  readonly losses = new ClientLosses()
  readonly #parts: IntakeParts
  /** Promises of batches that are not acknowledged; none rejects. */
  readonly #pending = new Set<Promise<void>>()
  /** Where producers wait for the far end, and for the disk. */
  readonly #producers: Backpressure
  readonly #writes: Backpressure | undefined
  /** Whether the last batches that the queue refused came in one turn of the event loop. */
  #isLoopBlocked = false
  #room: PromiseWithResolvers<void> | undefined
  #isClosed = false

  constructor(parts: IntakeParts) {
    const { limits, timers } = parts
    const { durable } = parts.queue
    // A queue on disk holds an outage; it keeps producers waiting only where its policy says so, and then without end.
    const stallMs = durable === undefined ? {} : { stallMs: Number.POSITIVE_INFINITY }
    this.#parts = parts
    this.#producers = new Backpressure({ limitBytes: limits.queueLimitBytes, timers, ...stallMs })
    this.#writes = durable && new Backpressure({ limitBytes: durable.unwrittenLimitBytes, timers })
  }

  /** Resolves when all batches so far are acknowledged or dropped. */
  get acknowledged(): Promise<unknown> {
    return Promise.all(this.#pending)
  }

  /** False if a batch has no room and may be refused; it is not counted then. */
  admit(batch: Batch, { mayRefuse }: { readonly mayRefuse: boolean }): boolean {
    const { queue, ledger, limits } = this.#parts
    // A queue on disk splits what it reads: a page of a client is whole in it, or is not there.
    const pieces = queue.durable === undefined ? splitBatch(batch, limits) : wholeBatch(batch)
    const reason = this.#obstacle(batch, pieces)
    if (mayRefuse && reason === 'queue_full') return false
    ledger.stats.in += batch.count
    if (reason === undefined) for (const piece of pieces) this.#append(piece)
    else this.#drop(reason, batch)
    return true
  }

  /** Resolves when producers may go on; undefined if they need not wait. */
  ready(): Promise<void> | undefined {
    const { queue, limits } = this.#parts
    const { bytes, durable } = queue
    if (durable === undefined) return this.#producers.wait(bytes)
    const written = this.#writes?.wait(durable.unwrittenBytes)
    return written ?? (limits.queuePolicy === 'block' ? this.#producers.wait(bytes) : undefined)
  }

  /** Resolves with the next batch that leaves the queue. */
  nextRoom(): Promise<void> {
    this.#room ??= Promise.withResolvers()
    return this.#room.promise
  }

  /** Batches have left the queue. */
  left(): void {
    this.signalRoom()
    this.#producers.left(this.#parts.queue.bytes)
  }

  /** Those that wait for room look again. */
  signalRoom(): void {
    this.#room?.resolve()
    this.#room = undefined
  }

  /** Later batches are dropped, and no producer waits. */
  close(): void {
    this.#isClosed = true
    this.#producers.open()
    this.#writes?.open()
  }

  /** Explains `queue_full` in words; empty without an explanation. */
  get causeOfFull(): string {
    return this.#isLoopBlocked ? causeOfBlockedLoop('queueLimitBytes') : ''
  }

  /** The reason for which a batch cannot be queued. Drops older batches first if the policy allows it. */
  #obstacle(batch: Batch, pieces: readonly Batch[]): DropReason | undefined {
    const { queue, ledger, limits } = this.#parts
    const { queueLimitBytes, queuePolicy } = limits
    if (this.#isClosed) return 'closed'
    if (batch.bytes.byteLength !== batch.count * batch.type.layout.recordBytes) return 'wrong_size'
    const needed = pieces.reduce((bytes, piece) => bytes + entryBytes(piece), 0)
    const blockLimitBytes = queue.durable === undefined ? Number.POSITIVE_INFINITY : DTB_LIMITS.payloadBytes
    if (needed > queueLimitBytes || batch.bytes.byteLength > blockLimitBytes) return 'too_large'
    this.#producers.entering(queue.bytes)
    const missing = queue.bytes + needed - queueLimitBytes
    if (missing <= 0) return undefined
    this.#isLoopBlocked = this.#producers.isLoopBlocked
    // Batches that are being sent cannot be dropped. If all waiting batches are too small, none is dropped in vain.
    if (queuePolicy !== 'drop_oldest' || queue.evictableBytes < missing) return 'queue_full'
    ledger.drop('queue_full', queue.evict(missing))
    this.signalRoom()
    return undefined
  }

  #append(piece: Batch): void {
    const { queue, ledger, onFirst } = this.#parts
    const { count, page } = piece
    if (queue.records === 0) onFirst(piece)
    const acknowledged = queue
      .append(piece)
      .then(
        (result) => {
          if (result === 'kept') return
          ledger.stats.out += count
          ledger.stats.duplicates += count
        },
        (error) => {
          ledger.fail(error)
          this.#drop('queue_failed', { count, page }, messageOf(error))
        },
      )
      .finally(() => {
        this.#pending.delete(acknowledged)
        if (queue.durable !== undefined) this.#writes?.left(queue.durable.unwrittenBytes)
      })
    this.#pending.add(acknowledged)
  }

  #drop(reason: DropReason, { count, page }: Counted, words = ''): void {
    const { queue, ledger } = this.#parts
    ledger.drop(reason, count, words)
    if (queue.durable !== undefined) this.losses.add(page, count)
    this.signalRoom()
  }
}

function wholeBatch(batch: Batch): readonly Batch[] {
  return batch.count > 0 ? [batch] : []
}
