import { messageOf } from '../errors.ts'
import type { Timers } from '../internal/timers.ts'
import type { Batch } from '../schema/batch.ts'
import type { DeliveryLimits } from './config.ts'
import type { DeadLetter, DeadLetters } from './dead-letters.ts'
import type { Ledger } from './ledger.ts'
import { type DeliveryQueue, type QueueEntry, recordsOf } from './queue.ts'
import type { Sender } from './sender.ts'

/** What {@link Requests} works with. */
export interface RequestParts<P> {
  readonly queue: DeliveryQueue
  readonly ledger: Ledger
  readonly letters: DeadLetters<P>
  readonly sender: Sender<P>
  readonly encode: (batches: readonly Batch[]) => P | undefined
  readonly limits: Readonly<Required<DeliveryLimits>>
  readonly timers: Timers
  /** Called when something has left the queue. */
  readonly onRoom: () => void
}

/**
 * Refusals in a row after which a refused request is not halved any more, until one arrives: a destination that takes
 * nothing at all is then asked once a request rather than once a batch. Twice what one bad batch among a million needs.
 */
const HALVINGS_IN_ROW_MAX = 40

/** Forms requests from the queue and sees each to its end. */
export class Requests<P> {
  readonly #parts: RequestParts<P>
  readonly #runs = new Set<Promise<void>>()
  /** Who wants records to go now rather than linger: flushes, and closing. */
  #urgent = 0
  #lingered = false
  #cancelLinger: (() => void) | undefined
  #refusedInRow = 0

  constructor(parts: RequestParts<P>) {
    this.#parts = parts
  }

  /** Starts as many requests as may be under way now; called after everything that could allow one. */
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

  /** Nothing lingers until the promise settles. */
  async hasten<T>(until: Promise<T>): Promise<T> {
    this.#urgent++
    this.pump()
    try {
      return await until
    } finally {
      this.#urgent--
    }
  }

  /** Ends every request under way and puts its batches back; resolves when that is done. */
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

  /**
   * One request, from the queue to its end. One that the encoder or the far end refuses is halved and tried again,
   * until the batch that is to blame stands alone and its neighbours are through.
   */
  async #run(): Promise<void> {
    const { queue, sender, timers } = this.#parts
    const waiting = [await this.#take()]
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
      // A transport that answers at once must not keep the event loop to itself.
      await new Promise<void>((resolve) => timers.after(0, resolve))
    }
  }

  async #take(): Promise<readonly QueueEntry[]> {
    const { queue, ledger, limits, sender, onRoom } = this.#parts
    try {
      const { entries, unreadableRecords } = await queue.take(limits.batchRecordsMax, limits.batchBytesMax)
      ledger.drop('queue_unreadable', unreadableRecords)
      if (unreadableRecords > 0) onRoom()
      return entries
    } catch (error) {
      ledger.fail(error)
      await sender.pause(limits.backoffInitialMs)
      return []
    }
  }

  /** Encodes and sends. Settles the part, unless it is refused or delivery stops, which it then says. */
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
    const verdict = await sender.deliver(payload)
    switch (verdict.outcome) {
      case 'stopped':
        return 'stopped'
      case 'reject':
        return { cause: 'rejected', reason: verdict.reason, payload }
      case 'expired':
        this.#drop(part, 'retry_limit', verdict.reason)
        return undefined
      case 'ok':
        this.#refusedInRow = 0
        ledger.arrived(recordsOf(part))
        queue.ack(part)
        onRoom()
        return undefined
    }
  }

  /** Counted first: who waits for the queue to let it go must find it counted. */
  #drop(
    part: readonly QueueEntry[],
    reason: 'not_encoded' | 'encode_failed' | 'rejected' | 'retry_limit',
    words = '',
  ): void {
    const { queue, ledger, onRoom } = this.#parts
    ledger.drop(reason, recordsOf(part), words)
    queue.ack(part)
    onRoom()
  }
}
