import type { Batch, PageId } from '../schema/batch.ts'

/** A batch in a queue; the queue owns its bytes. */
export interface QueueEntry {
  /** Ascends in the order of `append`, even across restarts of the process. */
  readonly id: number
  readonly batch: Batch
  /**
   * When the queue gives the batch up, by the clock of delivery: retries end then. Unit: milliseconds. Default:
   * delivery limits the retries.
   */
  readonly expiresMs?: number
}

/** Batches taken from a {@link DeliveryQueue}. */
export interface TakenEntries {
  readonly entries: readonly QueueEntry[]
  /** Records that the queue could not read back; they no longer count as queued. Always 0 in memory. */
  readonly unreadableRecords: number
  /** Place and cause of the unreadable records, in words. */
  readonly unreadable?: string
}

/** The result of `append`. `duplicate`: the queue had the page of the batch already, and has left it out. */
export type AppendResult = 'kept' | 'duplicate'

/** What a durable queue reports beside the results of its calls. */
export interface QueueEvents {
  /** Records of an earlier process were found; they count as queued now. */
  found(records: number): void
  /** Records that waited for too long were removed. */
  expired(records: number): void
  /** The disk failed, or something on it was damaged. */
  failed(error: unknown): void
}

/** The parts of a queue on disk that a queue in memory does not have. */
export interface DurableQueue {
  /** Called once, before any other call. */
  attach(events: QueueEvents): void
  /** Size of the batches that are not written yet, and its limit. Unit: bytes. */
  readonly unwrittenBytes: number
  readonly unwrittenLimitBytes: number
  /** A sentence while the disk hangs; else empty. */
  readonly hanging: string
  /** Writes the batches that are not written yet, for a process that ends and cannot wait. */
  finishNow(): void
  /** The last page of a client whose records are written; 0 if none is known. */
  lastPage(client: bigint): Promise<bigint>
  /** Refuses the batches that are not written: the disk did not answer before the end. */
  giveUp(): void
  /** Notes a page without records for this queue. */
  skip(page: PageId): void
}

/**
 * The queue of a delivery, in memory or on disk. Every batch is *waiting* or *taken* until it leaves by `ack`,
 * `discard` or `evict`. The counts are correct when a call returns, even if its promise is pending. No method throws;
 * only `append` and `take` may reject.
 *
 * The batches of an earlier process are waiting in a durable queue.
 */
export interface DeliveryQueue {
  /** Present if batches outlive the process. If not, delivery drops and counts the remaining batches when it closes. */
  readonly durable?: DurableQueue | undefined
  /** Records waiting or taken. */
  readonly records: number
  /** Size of all waiting and taken batches, with their texts. Unit: bytes. */
  readonly bytes: number
  readonly waitingRecords: number
  /** Size of the waiting batches, as requests count it; see {@link entryBytes}. Unit: bytes. */
  readonly waitingBytes: number
  /** The part of `bytes` that `evict` could free: that of the waiting batches. */
  readonly evictableBytes: number
  /**
   * Adds a batch, whose bytes are valid only during the call. It counts at once. The promise resolves when the batch is
   * *acknowledged*: a durable queue has written it; a queue in memory has passed it on. The promise rejects if the
   * batch could not be kept; the batch then no longer counts.
   */
  append(batch: Batch): Promise<AppendResult>
  /**
   * Takes the oldest waiting batches, in order, up to both limits; at least one batch if any waits. They count as taken
   * from the call on. After a rejection they wait again; delivery retries after a pause.
   */
  take(recordsMax: number, bytesMax: number): Promise<TakenEntries>
  /**
   * Records of a taken batch have left: `arrivedRecords` of them have arrived, and delivery dropped the others. The
   * batch is removed with its last record. A durable queue may record that late: after a crash it sends the batch
   * again.
   */
  leave(entry: QueueEntry, records: number, arrivedRecords: number): void
  /** Puts taken batches back in their order, because delivery closes. Some of their records may have left. */
  nack(entries: readonly QueueEntry[]): void
  /**
   * Removes the oldest waiting batches until `bytesMin` are free or none waits. A queue in files may remove a whole
   * file. Returns the number of removed records.
   */
  evict(bytesMin: number): number
  /** Releases files and memory. A durable queue keeps its batches for the next start. */
  close(): Promise<void>
}

/** Memory of a batch beside its records: objects, promise, list entries. Unit: bytes. */
export const ENTRY_OVERHEAD_BYTES = 256

/** The size of a batch, as limits count it. Unit: bytes. */
export function entryBytes({ bytes }: Pick<Batch, 'bytes'>): number {
  return bytes.byteLength + ENTRY_OVERHEAD_BYTES
}
