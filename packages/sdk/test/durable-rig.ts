import assert from 'node:assert/strict'
import { DiskQueue } from '../src/delivery/disk-queue/disk-queue.ts'
import { type Batch, type DeliveryOptions, type DeliverySink, delivery, type SendResult } from '../src/index.ts'
import { droppedTotal } from '../src/internal/index.ts'
import { batchOf, OK, serialsOf } from './delivery-rig.ts'
import type { Ending } from './files-rig.ts'
import { until } from './helper.ts'

/** Options of {@link DurableRig}. */
export interface DurableRigOptions extends Partial<DeliveryOptions<readonly number[]>> {
  readonly queueDir: string
  /** Serial number of the first record. Default: 0. */
  readonly serial?: number
  /** A clock that only rises. Unit: milliseconds. Default: that of the process. */
  readonly nowMs?: () => number
}

/** A delivery with a queue on disk, before a peer whose behaviour is a function that may be replaced. */
export class DurableRig {
  readonly queue: DiskQueue
  readonly sink: DeliverySink
  /** Serial numbers that the peer took, in order. */
  readonly taken: number[] = []
  /** Requests, one text each. */
  readonly failures: string[] = []
  answer: (serials: readonly number[]) => SendResult | Promise<SendResult> = () => OK
  #serial: number

  constructor(options: DurableRigOptions) {
    const { queueDir, serial = 0, nowMs, queueLimitBytes = 64 << 20, queueAgeMaxS = 604_800, ...rest } = options
    this.#serial = serial
    this.queue = new DiskQueue({
      ...{ folder: queueDir, name: 'test', limitBytes: queueLimitBytes, ageMaxS: queueAgeMaxS },
      ...(nowMs === undefined ? {} : { nowMs }),
    })
    this.sink = delivery<readonly number[]>({
      name: 'test',
      encode: serialsOf,
      send: async (serials) => {
        const result = await this.answer(serials)
        if (result.outcome === 'ok') this.taken.push(...serials)
        return result
      },
      ...{ lingerMs: 0, backoffInitialMs: 5, backoffMaxMs: 20, closeTimeoutMs: 1000 },
      ...{ queue: this.queue, queueLimitBytes, queueAgeMaxS, ...rest },
    })
  }

  /** Accepts a batch of records with the next serial numbers. */
  accept(count: number, change: Partial<Batch> = {}): void {
    this.sink.accept({ ...batchOf(Array.from({ length: count }, () => this.#serial++)), ...change })
    this.checkBalance()
  }

  checkBalance(): void {
    const { stats, queuedRecords } = this.sink
    assert.equal(stats.in, stats.out + droppedTotal(stats) + queuedRecords, 'in = out + dropped + queued')
  }

  get dropped(): Record<string, number> {
    return Object.fromEntries(this.sink.stats.dropped)
  }

  /** Resolves when nothing is queued. */
  async drained(): Promise<void> {
    await this.sink.flush()
    await until('the queue is empty', () => this.sink.queuedRecords === 0)
    this.checkBalance()
  }
}

/** A {@link DurableRig} that is closed at the end. */
export function durableRig(t: Ending, options: DurableRigOptions): DurableRig {
  const rig = new DurableRig(options)
  t.after(() => rig.sink.close())
  return rig
}
