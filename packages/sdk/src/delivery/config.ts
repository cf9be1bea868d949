import { SondeError } from '../errors.ts'

/**
 * What happens to a batch for which the queue has no room. `drop_oldest`: what waits longest makes room. `drop_newest`:
 * the batch itself is dropped. `block`: `offer` refuses it and its producer waits; `accept`, which cannot wait, drops
 * it.
 */
export type QueuePolicy = 'drop_oldest' | 'drop_newest' | 'block'

/** The limits of a delivery: what a user of a push sink may set. */
export interface DeliveryLimits {
  /**
   * Memory of all that is queued or being sent: the records, and 256 bytes a batch. Unit: bytes. Range: 64 KiB to
   * 16 GiB. Default: 64 MiB.
   */
  queueLimitBytes?: number
  /** What gives when the queue is full. Default: `drop_oldest`. */
  queuePolicy?: QueuePolicy
  /** Records in one request at most. Range: 1 to 1 000 000. Default: 10 000. */
  batchRecordsMax?: number
  /**
   * Size of one request at most, measured like `queueLimitBytes`, before encoding. A larger record goes alone. Unit:
   * bytes. Range: 4 KiB to 64 MiB, and no more than `queueLimitBytes`. Default: 1 MiB.
   */
  batchBytesMax?: number
  /** How long records wait for company while a sender is free. Unit: milliseconds. Range: 0 to 60 000. Default: 200. */
  lingerMs?: number
  /**
   * Requests under way at once. With 1, records arrive in order; with more, no order is kept. Range: 1 to 64. Default:
   * 1.
   */
  concurrency?: number
  /** How long one attempt may take. Unit: milliseconds. Range: 10 to 600 000. Default: 10 000. */
  timeoutMs?: number
  /** Attempts a request. Range: 1 to 1 000 000. Default: 100. */
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
   * Time from the first attempt after which a request is given up. Unit: milliseconds. Range: 0, one attempt, to
   * 86 400 000. Default: 300 000.
   */
  retryLimitMs?: number
  /** How long `close` goes on sending. Unit: milliseconds. Range: 0 to 600 000. Default: 3 000. */
  closeTimeoutMs?: number
  /**
   * Dead letters that `onReject` may have and not be finished with; further ones are only counted. Each is at most a
   * request. Range: 1 to 10 000. Default: 16.
   */
  deadLettersMax?: number
}

type NumberKey = Exclude<keyof DeliveryLimits, 'queuePolicy'>

/** Default, bounds and unit of every number among {@link DeliveryLimits}; both bounds are allowed values. */
export const DELIVERY_LIMITS: Readonly<
  Record<NumberKey, { readonly default: number; readonly min: number; readonly max: number; readonly unit: string }>
> = {
  queueLimitBytes: { default: 64 << 20, min: 64 << 10, max: 16 * 2 ** 30, unit: 'bytes' },
  batchRecordsMax: { default: 10_000, min: 1, max: 1_000_000, unit: 'records' },
  batchBytesMax: { default: 1 << 20, min: 4 << 10, max: 64 << 20, unit: 'bytes' },
  lingerMs: { default: 200, min: 0, max: 60_000, unit: 'milliseconds' },
  concurrency: { default: 1, min: 1, max: 64, unit: 'requests' },
  timeoutMs: { default: 10_000, min: 10, max: 600_000, unit: 'milliseconds' },
  attemptsMax: { default: 100, min: 1, max: 1_000_000, unit: 'attempts' },
  backoffInitialMs: { default: 500, min: 1, max: 60_000, unit: 'milliseconds' },
  backoffMaxMs: { default: 30_000, min: 1, max: 3_600_000, unit: 'milliseconds' },
  backoffJitter: { default: 0.2, min: 0, max: 1, unit: 'ratio' },
  retryLimitMs: { default: 300_000, min: 0, max: 86_400_000, unit: 'milliseconds' },
  closeTimeoutMs: { default: 3000, min: 0, max: 600_000, unit: 'milliseconds' },
  deadLettersMax: { default: 16, min: 1, max: 10_000, unit: 'letters' },
}

const POLICIES: readonly string[] = ['drop_oldest', 'drop_newest', 'block'] satisfies QueuePolicy[]

/**
 * The limits with their defaults, checked and frozen.
 *
 * @throws SondeError `DLV_OPTION`, naming key, value and what is allowed.
 */
export function checkDeliveryLimits(given: DeliveryLimits): Readonly<Required<DeliveryLimits>> {
  const queuePolicy = given.queuePolicy ?? 'drop_oldest'
  if (!POLICIES.includes(queuePolicy)) fail('queuePolicy', queuePolicy, POLICIES.join(', '))
  const numbers = {} as Record<NumberKey, number>
  for (const key of Object.keys(DELIVERY_LIMITS) as NumberKey[]) numbers[key] = checkNumber(key, given[key])
  const { queueLimitBytes, batchBytesMax, backoffInitialMs, backoffMaxMs } = numbers
  if (batchBytesMax > queueLimitBytes)
    fail('batchBytesMax', batchBytesMax, `at most queueLimitBytes, ${queueLimitBytes}`)
  if (backoffMaxMs < backoffInitialMs)
    fail('backoffMaxMs', backoffMaxMs, `at least backoffInitialMs, ${backoffInitialMs}`)
  return Object.freeze({ ...numbers, queuePolicy })
}

function checkNumber(key: NumberKey, given: unknown): number {
  const { default: otherwise, min, max, unit } = DELIVERY_LIMITS[key]
  if (given === undefined) return otherwise
  const whole = unit === 'ratio' || Number.isInteger(given)
  if (typeof given === 'number' && whole && given >= min && given <= max) return given
  return fail(key, given, `${unit === 'ratio' ? 'a number' : 'a whole number'} from ${min} to ${max} (${unit})`)
}

function fail(key: string, value: unknown, allowed: string): never {
  throw new SondeError('DLV_OPTION', `${key} is ${String(value)}; allowed: ${allowed}`)
}
