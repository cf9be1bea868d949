import { turn } from '../internal/turn.ts'
import type { Batch } from '../schema/batch.ts'
import { deadLetterType } from '../schema/builtin.ts'
import type { CheckedLimits } from './config.ts'
import { Lag } from './lag.ts'
import type { QueueEntry } from './queue.ts'
import { type Request, type RequestPiece, requestsOf } from './request.ts'
import { Settlement, type SettlementParts } from './settlement.ts'
import { Shards } from './shards.ts'

/** Options of {@link Requests}. */
export interface RequestParts<P> extends SettlementParts<P> {
  readonly limits: CheckedLimits
}

/** Forms requests from the queue and has each sent until it has arrived or is dropped. */
export class Requests<P> {
  readonly #parts: RequestParts<P>
  readonly #settlement: Settlement<P>
  readonly #shards: Shards
  readonly #runs = new Set<Promise<void>>()
  readonly #lag = new Lag()
  /** Number of flushes and closes that want records to be sent without lingering. */
  #urgent = 0
  #lingered = false
  #cancelLinger: (() => void) | undefined

  constructor(parts: RequestParts<P>) {
    this.#parts = parts
    this.#settlement = new Settlement(parts)
    this.#shards = new Shards(parts.limits.shards)
  }

  /** A batch comes into the empty queue. */
  enter(batch: Batch): void {
    this.#lag.enter(batch)
  }

  /** The age of the oldest record of a queue that is not empty; undefined if it is not known. Unit: seconds. */
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
    const [first, last = first] = [taken[0], taken.at(-1)]
    const end = first && last && this.#lag.begin(first.batch, last.batch)
    try {
      const shards = await this.#shardsOf(taken)
      const left = await Promise.all(shards.map((requests) => this.#settlement.settle(requests)))
      this.#parts.queue.nack([...new Set(left.flat().map(({ entry }) => entry))])
    } finally {
      end?.()
    }
  }

  /** The requests of each shard. Shards are sent at the same time, the requests of a shard one after the other. */
  async #shardsOf(taken: readonly QueueEntry[]): Promise<readonly (readonly Request[])[]> {
    const { limits } = this.#parts
    if (limits.shards === 1) return taken.length === 0 ? [] : [[taken.map((entry) => ({ entry, batch: entry.batch }))]]
    const shards: RequestPiece[][] = Array.from({ length: limits.shards }, () => [])
    for (const entry of taken) {
      if (turn.isOver()) await turn.next()
      for (const [shard, batch] of this.#shards.split(entry.batch).entries())
        if (batch !== undefined) shards[shard]?.push({ entry, batch })
    }
    return shards.map((pieces) => requestsOf(pieces, limits))
  }

  async #take(): Promise<readonly QueueEntry[]> {
    const { queue, ledger, limits, sender, onRoom } = this.#parts
    const { batchRecordsMax, batchBytesMax, shards } = limits
    try {
      const taken = await queue.take(batchRecordsMax * shards, batchBytesMax * shards)
      ledger.drop('queue_unreadable', taken.unreadableRecords, taken.unreadable)
      if (taken.unreadableRecords > 0) onRoom()
      // Reasons of dead letters that are sent again.
      const notes = taken.entries.filter(isNote)
      if (notes.length === 0) return taken.entries
      this.#settlement.drop(
        notes.map((entry) => ({ entry, batch: entry.batch })),
        'not_encoded',
      )
      return taken.entries.filter((entry) => !isNote(entry))
    } catch (error) {
      ledger.fail(error)
      await sender.pause(limits.backoffInitialMs)
      return []
    }
  }
}

function isNote({ batch }: QueueEntry): boolean {
  return batch.type.name === deadLetterType.name
}
