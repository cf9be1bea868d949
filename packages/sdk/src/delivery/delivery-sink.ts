import type { Timers } from '../internal/timers.ts'
import type { Batch } from '../schema/batch.ts'
import type { Sink } from '../sink/sink.ts'
import type { DeliveryLimits, SeriesLimits } from './config.ts'
import type { OnReject } from './dead-letters.ts'
import type { OnLoss } from './ledger.ts'
import type { DeliveryQueue } from './queue.ts'
import type { Send } from './sender.ts'

/**
 * The parts of a push sink for `delivery`: encoder, transport and options. `P` is one encoded request for the
 * transport.
 */
export interface DeliveryOptions<P> extends DeliveryLimits, SeriesLimits {
  /** Name of the sink; the component in its loss records. */
  name: string
  /**
   * Encodes batches, in order, as one request. Pure and synchronous. `undefined`: this destination can carry none of
   * their records. If it throws, only the faulty batch is dropped.
   */
  encode: (batches: readonly Batch[]) => P | undefined
  /** Makes one attempt; see {@link Send}. */
  send: Send<P>
  /** Releases the transport. Called once, at the end of `close`, which waits for at most `closeTimeoutMs`. */
  close?: () => void | Promise<void>
  /**
   * Called with each request that the destination will never accept. Only `close` waits for it. Default: these requests
   * are only counted.
   */
  onReject?: OnReject<P>
  /** Called with records of `sonde_loss`, at most one a second and reason. Default: drops are only counted. */
  onLoss?: OnLoss
  /** The queue. Default: on disk with `queueDir`, else in memory; then a record is acknowledged when it has arrived. */
  queue?: DeliveryQueue
  /** Timers. Default: those of the process. */
  timers?: Timers
  /**
   * How long the next attempt has to wait, for a limit of bytes a second. Asked before each attempt. Unit:
   * milliseconds. Default: attempts do not wait.
   */
  waitMs?: () => number
  /** Random numbers from 0 to 1 for the pauses. Default: `Math.random`. */
  random?: () => number
}

/**
 * A push sink. `stats.in = stats.out + dropped + queuedRecords` holds at every moment. Records that a durable queue
 * kept from an earlier process count as `in` again.
 */
export interface DeliverySink extends Sink {
  /** Accepted records that are neither sent nor dropped. */
  readonly queuedRecords: number
  /** Size of the queued records, as limits count it. Unit: bytes. */
  readonly queuedBytes: number
  /** Limit of `queuedBytes`. Unit: bytes. */
  readonly queuedBytesMax: number
  /**
   * The age of the oldest record that has not arrived: 0 with an empty queue, undefined until the first record of an
   * earlier process is read. Unit: seconds.
   */
  readonly lagS: number | undefined
  /** The last error; empty after a request has arrived. */
  readonly failing: string
  /**
   * Dead letters that were only counted, because `onReject` was busy with `deadLettersMax` others, and records that the
   * files of `deadLetters` do not have.
   */
  readonly lettersOverflowed: number
  /**
   * `accept` for a producer that can wait. `false`: the queue is full and its policy is `block`; no record was kept or
   * counted. Wait for {@link whenRoom} and offer the batch again.
   */
  offer(batch: Batch): boolean
  /**
   * Resolves when a batch has left the queue, at once if the queue is empty, and when delivery closes. Unlike `ready`,
   * it waits without a limit.
   */
  whenRoom(): Promise<void>
  /**
   * Resolves when every record accepted before the call is acknowledged: it has arrived or, with a durable queue, is
   * written to disk. Sends without lingering; may take as long as the retries.
   *
   * @throws FlushError `DLV_LOST` if records were dropped since the last flush or during this flush; `not_encoded` is
   * no loss.
   */
  flush(): Promise<void>
}
