import type { Batch } from '../schema/batch.ts'

/** A batch in a queue; its bytes are the queue's own. */
export interface QueueEntry {
  /** Ascends in the order of `append`, also over restarts of the process. */
  readonly id: number
  readonly batch: Batch
}

/** What {@link DeliveryQueue} gives out. */
export interface TakenEntries {
  readonly entries: readonly QueueEntry[]
  /** Records that were kept and cannot be read back; they count no longer. Always 0 in memory. */
  readonly unreadableRecords: number
}

/**
 * What delivery needs of a queue: in memory now, on disk behind the same interface. Every batch is *waiting* or *taken*
 * until it leaves by `ack` or `evict`. All counts are true at the return of each call, whatever a promise still waits
 * for. Nothing here throws, and only `append` and `take` may reject.
 *
 * A queue that outlives the process is opened before it is handed to delivery, with what an earlier process left in it
 * waiting.
 */
export interface DeliveryQueue {
  /** Whether batches outlive the process. If not, delivery drops and counts what is left when it closes. */
  readonly durable: boolean
  /** Records waiting or taken. */
  readonly records: number
  /** What everything that waits or is taken takes, texts included. */
  readonly bytes: number
  readonly waitingRecords: number
  /** Size of what waits, as requests count it; see {@link entryBytes}. */
  readonly waitingBytes: number
  /** What `evict` could free: what waits takes so much of `bytes`. */
  readonly evictableBytes: number
  /**
   * Adds a batch, whose bytes are valid only during the call. It counts at once. The promise resolves when the batch is
   * *acknowledged*: a durable queue has written it; one in memory is done with it. It rejects where the batch could not
   * be kept; it then counts no longer.
   */
  append(batch: Batch): Promise<void>
  /**
   * Takes the batches that wait longest, in order, up to both limits, and one at least if there is any. They count as
   * taken from the moment of the call. A rejection leaves them waiting; delivery comes again after a pause.
   */
  take(recordsMax: number, bytesMax: number): Promise<TakenEntries>
  /**
   * Lets taken batches go: they have arrived, or were dropped. A durable queue may write that down late: after a crash
   * they are sent again.
   */
  ack(entries: readonly QueueEntry[]): void
  /** Puts taken batches back into their places, to be taken again. */
  nack(entries: readonly QueueEntry[]): void
  /**
   * Lets those batches go that wait longest until `bytesMin` are free or none waits; a queue in files may let a whole
   * file go. Answers how many records that were.
   */
  evict(bytesMin: number): number
  /** Releases files and memory. A durable queue keeps its batches for the next start. */
  close(): Promise<void>
}

/** What a batch in a queue takes beside its records: objects, promise, places in lists. */
export const ENTRY_OVERHEAD_BYTES = 256

/** The size of a batch as limits count it. */
export function entryBytes({ bytes }: Pick<Batch, 'bytes'>): number {
  return bytes.byteLength + ENTRY_OVERHEAD_BYTES
}

/** Records of entries. */
export function recordsOf(entries: readonly QueueEntry[]): number {
  return entries.reduce((records, { batch }) => records + batch.count, 0)
}
