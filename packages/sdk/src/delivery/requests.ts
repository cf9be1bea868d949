import { messageOf } from '../errors.ts'
import type { Timers } from '../internal/timers.ts'
import type { Batch } from '../schema/batch.ts'
import { deadLetterType } from '../schema/builtin.ts'
import type { CheckedLimits } from './config.ts'
import type { DeadLetter, DeadLetters } from './dead-letters.ts'
import { Lag } from './lag.ts'
import type { Ledger } from './ledger.ts'
import { type DeliveryQueue, type QueueEntry, recordsOf } from './queue.ts'
import { refusalsOf } from './refused-records.ts'
import type { RefusedRecords, Sender } from './sender.ts'

/** Options of {@link Requests}. */
export interface RequestParts<P> {
  readonly queue: DeliveryQueue
  readonly ledger: Ledger
  readonly letters: DeadLetters<P>
  readonly sender: Sender<P>
  readonly encode: (batches: readonly Batch[]) => P | undefined
  readonly limits: CheckedLimits
  readonly timers: Timers
  /** Called when a batch has left the queue. */
  readonly onRoom: () => void
}

/**
 * After so many consecutive refusals, refused requests are no longer halved until a request arrives. A destination that
 * refuses everything then costs one attempt a request, not one a batch. One bad batch among a million needs half of it.
 */
const HALVINGS_IN_ROW_MAX = 40

function isNote({ batch }: QueueEntry): boolean {
  return batch.type.name === deadLetterType.name
}

/** Forms requests from the queue and sends each until it has arrived or is dropped. */
export class Requests<P> {
  readonly #parts: RequestParts<P>
  readonly #runs = new Set<Promise<void>>()
  readonly #lag = new Lag()
  /** Number of flushes and closes that want records to be sent without lingering. */
  #urgent = 0
  #lingered = false
  #cancelLinger: (() => void) | undefined
  #refusedInRow = 0

  constructor(parts: RequestParts<P>) {
    this.#parts = parts
  }

  /** The age of the oldest record that is being sent; undefined if none is. Unit: seconds. */
  get lagS(): number | undefined {
    return this.#lag.seconds
  }

  /** Starts as many requests as the limits allow; called after every change that could allow another. */
  pump(): void {
    const { queue, sender, limits } = this.#parts
    while (queue.waitingRecords > 0 && this.#runs.size < limits.concurrency && !sender.stopped) {
      if (!this.#isRipe()) {
        this.#linger()
        return
      }
      this.#lingered = false
      this.#stopLingering()
      const run = this.#run().finally(() => {
        this.#runs.delete(run)
        this.pump()
      })
      this.#runs.add(run)
    }
  }

  /** Records are sent without lingering until the promise settles. */
  async hasten<T>(until: Promise<T>): Promise<T> {
    this.#urgent++
    this.pump()
    try {
      return await until
    } finally {
      this.#urgent--
    }
  }

  /** Cancels every request in flight and puts its batches back; resolves when all are back. */
  async stop(): Promise<void> {
    this.#stopLingering()
    this.#parts.sender.stop()
    await Promise.all(this.#runs)
  }

  #isRipe(): boolean {
    const { queue, limits } = this.#parts
    if (this.#urgent > 0 || this.#lingered || limits.lingerMs === 0) return true
    return queue.waitingRecords >= limits.batchRecordsMax || queue.waitingBytes >= limits.batchBytesMax
  }

  #linger(): void {
    const { limits, timers } = this.#parts
    this.#cancelLinger ??= timers.after(limits.lingerMs, () => {
      this.#cancelLinger = undefined
      this.#lingered = true
      this.pump()
    })
  }

  #stopLingering(): void {
    this.#cancelLinger?.()
    this.#cancelLinger = undefined
  }

  async #run(): Promise<void> {
    const taken = await this.#take()
    const [first] = taken
    const end = first === undefined ? undefined : this.#lag.begin(first.batch)
    try {
      await this.#settle(taken)
    } finally {
      end?.()
    }
  }

  /**
   * Sends one request. A request that the encoder or the peer refuses is halved and tried again, until the faulty batch
   * is alone and its neighbours have arrived.
   */
  async #settle(taken: readonly QueueEntry[]): Promise<void> {
    const { queue, sender, timers } = this.#parts
    const waiting = [taken]
    for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
      if (part.length === 0) continue
      const refused = sender.stopped ? 'stopped' : await this.#deliver(part)
      if (refused === 'stopped') {
        for (const entries of [part, ...waiting]) queue.nack(entries)
        return
      }
      if (refused !== undefined && part.length > 1 && ++this.#refusedInRow <= HALVINGS_IN_ROW_MAX) {
        const half = part.length >> 1
        waiting.push(part.slice(half), part.slice(0, half))
      } else if (refused !== undefined) {
        this.#drop(part, refused.cause, refused.reason)
        this.#parts.letters.put({ ...refused, batches: part.map(({ batch }) => batch) })
      }
      // A transport that answers at once must not block the event loop.
      await new Promise<void>((resolve) => timers.after(0, resolve))
    }
  }

  async #take(): Promise<readonly QueueEntry[]> {
    const { queue, ledger, limits, sender, onRoom } = this.#parts
    try {
      const { entries, unreadableRecords, unreadable } = await queue.take(limits.batchRecordsMax, limits.batchBytesMax)
      ledger.drop('queue_unreadable', unreadableRecords, unreadable)
      if (unreadableRecords > 0) onRoom()
      // Reasons of dead letters that are sent again.
      const notes = entries.filter(isNote)
      if (notes.length === 0) return entries
      this.#drop(notes, 'not_encoded')
      return entries.filter((entry) => !isNote(entry))
    } catch (error) {
      ledger.fail(error)
      await sender.pause(limits.backoffInitialMs)
      return []
    }
  }

  /** Encodes and sends a part, and settles it. Returns the refusal or `stopped` if the part is not settled. */
  async #deliver(part: readonly QueueEntry[]): Promise<Omit<DeadLetter<P>, 'batches'> | 'stopped' | undefined> {
    const { queue, ledger, encode, sender, onRoom } = this.#parts
    let payload: P | undefined
    try {
      payload = encode(part.map(({ batch }) => batch))
    } catch (error) {
      ledger.fail(error)
      return { cause: 'encode_failed', reason: messageOf(error) }
    }
    if (payload === undefined) {
      this.#drop(part, 'not_encoded')
      return undefined
    }
    const expiresMs = part[0]?.expiresMs
    const verdict = await sender.deliver(payload, expiresMs)
    switch (verdict.outcome) {
      case 'stopped':
        return 'stopped'
      case 'reject':
        return { cause: 'rejected', reason: verdict.reason, payload }
      case 'expired':
        this.#drop(part, expiresMs === undefined ? 'retry_limit' : 'queue_expired', verdict.reason)
        return undefined
      case 'partial':
        this.#settlePartly(part, verdict.refused)
        return undefined
      case 'ok':
        this.#refusedInRow = 0
        ledger.arrived(recordsOf(part))
        queue.ack(part)
        onRoom()
        return undefined
    }
  }

  /** The peer has accepted all but some records. */
  #settlePartly(part: readonly QueueEntry[], refused: readonly RefusedRecords[]): void {
    const { queue, ledger, letters, onRoom } = this.#parts
    let left = recordsOf(part)
    for (const { reason, batches } of refusalsOf(
      part.map(({ batch }) => batch),
      refused,
    )) {
      const records = batches.reduce((sum, { count }) => sum + count, 0)
      left -= records
      ledger.fail(reason)
      ledger.drop('rejected', records, reason)
      letters.put({ cause: 'rejected', reason, batches })
    }
    if (left > 0) {
      this.#refusedInRow = 0
      ledger.arrived(left)
      queue.ack(part)
    } else queue.discard(part)
    onRoom()
  }

  /** Counts first: a caller that waits for the queue must find the records counted. */
  #drop(
    part: readonly QueueEntry[],
    reason: 'not_encoded' | 'encode_failed' | 'rejected' | 'retry_limit' | 'queue_expired',
    words = '',
  ): void {
    const { queue, ledger, onRoom } = this.#parts
    ledger.drop(reason, recordsOf(part), words)
    queue.discard(part)
    onRoom()
  }
}
