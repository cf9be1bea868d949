import type { Batch } from '../schema/batch.ts'
import { deadLetterType } from '../schema/builtin.ts'
import { wallNs } from '../source/clock.ts'
import { createOwnSource } from '../source/source.ts'
import { DiskQueue } from './disk-queue/disk-queue.ts'
import { entryBytes } from './queue.ts'

/** Refused records, and why. */
export interface Letter {
  readonly cause: 'rejected' | 'encode_failed'
  /** Words of the peer or of the encoder. */
  readonly reason: string
  readonly batches: readonly Batch[]
}

/** Options of a {@link LetterBox}. */
export interface LetterBoxOptions {
  /** Name of the destination. */
  readonly name: string
  /** The folder of its files. */
  readonly folder: string
  /** Size of all files; beyond, the oldest are removed. Unit: bytes. */
  readonly limitBytes: number
  readonly onFailure: (error: unknown) => void
}

/**
 * Keeps refused records in files: a queue on disk from which nobody takes. Before the records of a letter stands a
 * record of `sonde_dead_letter` with the reason. A destination with this folder as its `queueDir` sends them again.
 */
export class LetterBox {
  /** Records that were removed to make room, or could not be written. */
  overflowed = 0
  readonly #options: LetterBoxOptions
  readonly #queue: DiskQueue
  readonly #source = createOwnSource({ id: 'dead_letters', emit: (batch) => this.#append(batch) })

  constructor(options: LetterBoxOptions) {
    const { name, folder, limitBytes, onFailure } = options
    this.#options = options
    this.#queue = new DiskQueue({ folder, name, limitBytes, ageMaxS: Number.POSITIVE_INFINITY })
    this.#queue.attach({ found: () => undefined, expired: () => undefined, failed: onFailure })
  }

  /** A sentence while the disk hangs; else empty. */
  get hanging(): string {
    return this.#queue.hanging
  }

  /** Keeps a letter. Its batches are copied during the call. */
  put({ cause, reason, batches }: Letter): void {
    const records = batches.reduce((sum, { count }) => sum + count, 0)
    this.#source.report(deadLetterType, { time: wallNs(), destination: this.#options.name, cause, reason, records })
    this.#source.flush()
    for (const batch of batches) this.#append(batch)
  }

  async close(): Promise<void> {
    await this.#queue.close()
  }

  #append(batch: Batch): void {
    const missing = this.#queue.bytes + entryBytes(batch) - this.#options.limitBytes
    if (missing > 0) this.overflowed += this.#queue.evict(missing)
    this.#queue.append(withoutPage(batch)).catch((error: unknown) => {
      this.overflowed += batch.count
      this.#options.onFailure(error)
    })
  }
}

/** A letter may have a part of a page: a queue would leave out the next. */
function withoutPage({ page: _page, ...batch }: Batch): Batch {
  return batch
}
