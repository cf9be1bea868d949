import * as v from 'valibot'
import { checkOptions } from '../config/check-options.ts'
import { boundedText, choice, decimal, integer, setting } from '../config/kit.ts'
import { SondeError } from '../errors.ts'

/**
 * What happens to a batch when the queue is full. `drop_oldest`: the oldest waiting batches are dropped. `drop_newest`:
 * the new batch is dropped. `block`: `offer` refuses the batch and its producer waits; `accept` cannot wait and drops
 * the batch.
 */
export type QueuePolicy = 'drop_oldest' | 'drop_newest' | 'block'

/** The limits of a delivery: the options of every push sink. */
export interface DeliveryLimits {
  /**
   * Folder of the queue. Records in it outlive the process, and no other destination shares it. Default: the queue is
   * in memory; in an agent `queues/NAME` in its data folder.
   */
  queueDir?: string | undefined
  /**
   * Limit of all records that wait or are being sent: memory, plus 256 bytes a batch, or files in `queueDir`. Unit:
   * bytes. Range: 64 KiB to 16 GiB. Default: 64 MiB; in an agent 1 GiB.
   */
  queueLimitBytes?: number
  /**
   * Age at which records in `queueDir` are dropped. It alone limits retries there. Unit: seconds. Range: 1 to
   * 31 536 000 (a year). Default: 604 800 (a week).
   */
  queueAgeMaxS?: number
  /** The policy of a full queue. Default: `drop_oldest`. */
  queuePolicy?: QueuePolicy
  /** Records in one request at most. Range: 1 to 1 000 000. Default: 10 000. */
  batchRecordsMax?: number
  /**
   * Size of one request at most, measured like `queueLimitBytes`, before encoding. A larger record goes alone. Unit:
   * bytes. Range: 4 KiB to 64 MiB, and no more than `queueLimitBytes`. Default: 1 MiB.
   */
  batchBytesMax?: number
  /**
   * How long records wait to share a request while a sender is free. Unit: milliseconds. Range: 0 to 60 000. Default:
   * 200.
   */
  lingerMs?: number
  /**
   * Requests in flight at the same time. With 1, records arrive in order; with more, in any order. Range: 1 to 64.
   * Default: 1.
   */
  concurrency?: number
  /** How long one attempt may take. Unit: milliseconds. Range: 10 to 600 000. Default: 10 000. */
  timeoutMs?: number
  /** Attempts a request, without `queueDir`. Range: 1 to 1 000 000. Default: 100. */
  attemptsMax?: number
  /** Pause after the first failed attempt; doubles with each. Unit: milliseconds. Range: 1 to 60 000. Default: 500. */
  backoffInitialMs?: number
  /** Longest pause between attempts. Unit: milliseconds. Range: `backoffInitialMs` to 3 600 000. Default: 30 000. */
  backoffMaxMs?: number
  /**
   * Part of a pause that is random, so that many clients do not return at once. Unit: ratio. Range: 0 to 1. Default:
   * 0.2.
   */
  backoffJitter?: number
  /**
   * Time from the first attempt after which a request is given up; with `queueDir` only the longest pause that a peer
   * may ask for. Unit: milliseconds. Range: 0, one attempt, to
   * 86 400 000. Default: 300 000.
   */
  retryLimitMs?: number
  /**
   * How long `close` continues to send; an agent ends it 3.5 s after its stop. Unit: milliseconds. Range: 0 to 600 000.
   * Default: 3 000.
   */
  closeTimeoutMs?: number
  /**
   * Folder for records that the destination refuses, which no other destination shares. Default: they are only counted.
   */
  deadLetters?: string | undefined
  /**
   * Size of `deadLetters`; beyond, the oldest are removed and counted. Unit: bytes. Range: 1 MiB to 16 GiB. Default:
   * 64 MiB.
   */
  deadLettersLimitBytes?: number
  /**
   * Dead letters that `onReject` may process at the same time; more are only counted. A dead letter is at most one
   * request. Range: 1 to 10 000. Default: 16.
   */
  deadLettersMax?: number
}

/** The limit of a push sink whose protocol is about series. */
export interface SeriesLimits {
  /**
   * Requests in flight at the same time, each with series of its own: records of one series never overtake each other.
   * They are made of `shards` times `batchRecordsMax` and `batchBytesMax`. Not with `concurrency`. Range: 1 to 64.
   * Default: 1.
   */
  shards?: number
}

function folderEntry(description: string) {
  const isPath = v.check((path: string) => !path.includes('\0'), 'the path of a folder')
  return v.optional(v.pipe(boundedText(), isPath, v.description(description)))
}

function queueLimitEntry(bytes: number) {
  return setting(
    integer(64 << 10, 16 * 2 ** 30, 'bytes'),
    bytes,
    'Size of all that is queued or being sent: the records, and 256 bytes a batch',
  )
}

/** Keys of a delivery in a configuration, each with unit, range, default and purpose. */
export const deliveryEntries = {
  queueDir: folderEntry(
    'Folder of the queue: records in it survive the end of the process. Default: the queue is in memory; in an agent `queues/NAME` in its data folder',
  ),
  queueLimitBytes: queueLimitEntry(64 << 20),
  queueAgeMaxS: setting(
    integer(1, 31_536_000, 'seconds'),
    604_800,
    'Age at which records in a queue on disk are dropped; it alone limits retries there',
  ),
  queuePolicy: setting(
    choice(['drop_oldest', 'drop_newest', 'block']),
    'drop_oldest',
    'What is given up when the queue is full: what waits longest, or what comes. `block` keeps applications waiting; records of others, such as sources of hardware, are dropped when they come',
  ),
  batchRecordsMax: setting(integer(1, 1_000_000, 'records'), 10_000, 'Records in one request at most'),
  batchBytesMax: setting(
    integer(4 << 10, 64 << 20, 'bytes'),
    1 << 20,
    'Size of one request at most, before encoding, and no more than the queue; a larger record goes alone',
  ),
  lingerMs: setting(
    integer(0, 60_000, 'milliseconds'),
    200,
    'How long records wait for more of them while a request could be sent',
  ),
  concurrency: setting(
    integer(1, 64, 'requests'),
    1,
    'Requests under way at once. With 1, records arrive in order; with more, no order is kept',
  ),
  timeoutMs: setting(integer(10, 600_000, 'milliseconds'), 10_000, 'How long one attempt may take'),
  attemptsMax: setting(integer(1, 1_000_000, 'attempts'), 100, 'Attempts a request, with a queue in memory'),
  backoffInitialMs: setting(
    integer(1, 60_000, 'milliseconds'),
    500,
    'Pause after the first failed attempt; it doubles with each',
  ),
  backoffMaxMs: setting(integer(1, 3_600_000, 'milliseconds'), 30_000, 'Longest pause between attempts'),
  backoffJitter: setting(
    decimal(0, 1, 'ratio'),
    0.2,
    'Part of a pause that is random, so that many clients do not return at once',
  ),
  retryLimitMs: setting(
    integer(0, 86_400_000, 'milliseconds'),
    300_000,
    'Time from the first attempt after which a request is given up; 0 is one attempt. With a queue on disk only the longest pause that a receiver may ask for',
  ),
  closeTimeoutMs: setting(
    integer(0, 600_000, 'milliseconds'),
    3000,
    'How long it goes on sending at the end; an agent ends it 3.5 s after the stop',
  ),
  deadLetters: folderEntry(
    'Folder for [records that the destination refuses](delivery.md#dead-letters). Default: they are only counted',
  ),
  deadLettersLimitBytes: setting(
    integer(1 << 20, 16 * 2 ** 30, 'bytes'),
    64 << 20,
    'Size of the files of `dead_letters`; beyond, the oldest are removed',
  ),
}

/** The key of a delivery whose protocol is about series. */
export const seriesEntries = {
  shards: setting(
    integer(1, 64, 'shards'),
    1,
    'Requests under way at once, each with series of its own: records of one series never overtake each other',
  ),
}

/** Keys with another default in an agent, whose queues are on disk. */
export const agentQueueEntries = { queueLimitBytes: queueLimitEntry(2 ** 30) }

/** The key that only a program can use: only a program can keep dead letters. */
const programEntries = {
  deadLettersMax: setting(integer(1, 10_000, 'letters'), 16, 'Dead letters under way at once'),
}

/** Every key of a delivery. */
export const DELIVERY_KEYS = { ...deliveryEntries, ...seriesEntries, ...programEntries }

/** Limits with their defaults. */
export type CheckedLimits = Readonly<
  Required<Omit<DeliveryLimits & SeriesLimits, Folder>> & Pick<DeliveryLimits, Folder>
>
type Folder = 'queueDir' | 'deadLetters'

/** Limits that depend on each other. */
export type RelatedLimits = Pick<
  CheckedLimits,
  'queueLimitBytes' | 'batchBytesMax' | 'backoffInitialMs' | 'backoffMaxMs'
> &
  Partial<Pick<CheckedLimits, 'concurrency' | 'shards'>>

/** A conflict between limits that are each in range: the option, and its allowed values. */
export function clashOfLimits(limits: RelatedLimits): { readonly key: string; readonly allowed: string } | undefined {
  const { queueLimitBytes, batchBytesMax, backoffInitialMs, backoffMaxMs, concurrency = 1, shards = 1 } = limits
  if (batchBytesMax > queueLimitBytes)
    return { key: 'batchBytesMax', allowed: `at most the limit of the queue, ${queueLimitBytes}` }
  if (backoffMaxMs < backoffInitialMs)
    return { key: 'backoffMaxMs', allowed: `at least the first pause, ${backoffInitialMs}` }
  if (shards > 1 && concurrency > 1) return { key: 'concurrency', allowed: `1 with ${shards} shards` }
  return undefined
}

/**
 * The limits with their defaults, checked and frozen.
 *
 * @throws SondeError `DLV_OPTION` with the key, the value and the allowed values.
 */
export function checkDeliveryLimits(given: DeliveryLimits & SeriesLimits): CheckedLimits {
  const limits = checkOptions(DELIVERY_KEYS, given, 'DLV_OPTION', '')
  const clash = clashOfLimits(limits)
  if (clash === undefined) return Object.freeze(limits)
  const { key, allowed } = clash
  throw new SondeError('DLV_OPTION', `${key} is ${limits[key as keyof CheckedLimits]}; allowed: ${allowed}`)
}
