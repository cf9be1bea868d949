import assert from 'node:assert/strict'
import {
  type Batch,
  createSource,
  type DeliveryOptions,
  type DeliverySink,
  defineType,
  delivery,
  readRecords,
  type SendResult,
  value,
  viewsOf,
} from '../src/index.ts'
import { type DeliveryLimits, droppedTotal } from '../src/internal/index.ts'
import { SimulatedTimers } from './simulated-timers.ts'

/** Eight bytes a record: a number that counts up, so that a request says which records are in it. */
const serialType = defineType('serial', 'Test records', { serial: value('u64') })

/** What a batch of `count` records takes in a queue. */
export const queuedBytes = (count: number): number => count * 8 + 256

/** The smallest queue there may be, and how many batches of 100 records fill it. */
export const SMALL: DeliveryLimits = { queueLimitBytes: 65_536, batchBytesMax: 4096 }
export const FULL_BATCHES = Math.floor(65_536 / queuedBytes(100))

/** What the peer does with a request. */
export type Answer = (payload: readonly number[], signal: AbortSignal) => SendResult | Promise<SendResult>

export const OK: SendResult = { outcome: 'ok' }
export const retry = (reason = 'busy', afterMs?: number): SendResult =>
  afterMs === undefined ? { outcome: 'retry', reason } : { outcome: 'retry', reason, afterMs }
export const reject = (reason = 'no'): SendResult => ({ outcome: 'reject', reason })
/** Neither answers nor listens to the signal. */
export const hang = (): Promise<SendResult> => new Promise(() => undefined)

/** A delivery on simulated time, before a peer whose behaviour is a function that may be replaced. */
export class Rig {
  readonly timers = new SimulatedTimers()
  readonly sink: DeliverySink
  /** Serial numbers of each attempt that was made, and when. */
  readonly attempts: { readonly serials: readonly number[]; readonly atMs: number }[] = []
  /** Serial numbers that the peer took, in order. */
  readonly taken: number[] = []
  answer: Answer = () => OK
  #serial = 0

  constructor(options: Partial<DeliveryOptions<readonly number[]>> = {}) {
    this.sink = delivery<readonly number[]>({
      name: 'test',
      encode: serialsOf,
      send: (serials, signal) => this.#send(serials, signal),
      timers: this.timers,
      random: () => 0,
      lingerMs: 0,
      ...options,
    })
  }

  /** Serial number of the next record. */
  get serial(): number {
    return this.#serial
  }

  /** Accepts a batch of records with the next serial numbers. */
  accept(count = 1): void {
    this.sink.accept(this.batch(count))
    this.checkBalance()
  }

  batch(count = 1): Batch {
    return batchOf(Array.from({ length: count }, () => this.#serial++))
  }

  async advance(ms: number): Promise<void> {
    await this.timers.advance(ms)
    this.checkBalance()
  }

  checkBalance(): void {
    const { stats, queuedRecords } = this.sink
    assert.equal(stats.in, stats.out + droppedTotal(stats) + queuedRecords, 'in = out + dropped + queued')
  }

  get dropped(): Record<string, number> {
    return Object.fromEntries(this.sink.stats.dropped)
  }

  async #send(serials: readonly number[], signal: AbortSignal): Promise<SendResult> {
    this.attempts.push({ serials, atMs: this.timers.nowMs() })
    const result = await this.answer(serials, signal)
    // An answer that comes after delivery gave the attempt up is one that it never sees.
    if (result.outcome === 'ok' && !signal.aborted) this.taken.push(...serials)
    return result
  }
}

/** A batch of records with the given serial numbers. */
export function batchOf(serials: readonly number[]): Batch {
  let batch: Batch | undefined
  const source = createSource({
    id: 'test',
    bufferBytes: serials.length * 8,
    emit: (emitted) => {
      batch = emitted
    },
  })
  source.report(
    serialType,
    serials.map((serial) => ({ serial })),
  )
  source.flush()
  assert.ok(batch)
  return batch
}

export function serialsOf(batches: readonly Batch[]): number[] {
  return batches.flatMap(({ bytes, count, symbols }) =>
    [...readRecords(serialType, viewsOf(bytes), count, symbols)].map(({ serial }) => Number(serial)),
  )
}

/** Whole numbers from the first to, not including, the last. */
export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i)
}
