import type { Batch } from '../schema/batch.ts'

/** A batch in a queue; its bytes are the queue's own. */
export interface QueueEntry {
  readonly id: number
  readonly batch: Batch
}

/**
 * What delivery needs of a queue: in memory now, on disk behind the same interface. Every batch is *waiting* or *taken* until it leaves by `ack` or
 * `evict`. Nothing here throws or rejects, except the promise of `append`.
 */
export interface DeliveryQueue {
  /** Whether batches outlive the process. If not, delivery drops and counts what is left when it closes. */
  readonly durable: boolean
  /** Records waiting or taken. */
  readonly records: number
  /** Size of what waits or is taken; see {@link entryBytes}. */
  readonly bytes: number
  readonly waitingRecords: number
  readonly waitingBytes: number
  /**
   * Adds a batch, whose bytes are valid only during the call. It counts at once. The promise resolves when the batch is *acknowledged*: a durable
   * queue has written it; one in memory is done with it. It rejects where the batch could not be kept; it then counts no longer.
   */
  append(batch: Batch): Promise<void>
  /**
   * Takes the batches that wait longest, in order, up to both limits, and one at least if there is any. They count as taken from the moment of the call.
   */
  take(recordsMax: number, bytesMax: number): Promise<readonly QueueEntry[]>
  /** Lets a taken batch go: it has arrived, or was dropped. */
  ack(id: number): void
  /** Puts a taken batch back into its place, to be taken again. */
  nack(id: number): void
  /** Lets the batch go that waits longest, and says which. */
  evict(): QueueEntry | undefined
  /** Releases files and memory. A durable queue keeps its batches for the next start. */
  close(): Promise<void>
}

/** What a batch in a queue takes beside its records: objects, promise, places in lists. */
export const ENTRY_OVERHEAD_BYTES = 256

/** The size of a batch as limits count it. */
export function entryBytes({ bytes }: Pick<Batch, 'bytes'>): number {
  return bytes.byteLength + ENTRY_OVERHEAD_BYTES
}
