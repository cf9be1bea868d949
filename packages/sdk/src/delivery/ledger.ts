import { messageOf } from '../errors.ts'
import type { Timers } from '../internal/timers.ts'
import type { lossType } from '../schema/builtin.ts'
import type { RecordOf } from '../schema/record-type.ts'
import { countDrop, type SinkStats, sinkStats } from '../sink/sink.ts'
import { wallNs } from '../source/clock.ts'

/** A record of `sonde_loss`. */
export type LossRecord = RecordOf<typeof lossType>

/** Receives records of `sonde_loss`, for example `(record) => source.report(lossType, record)`. */
export type OnLoss = (record: LossRecord) => void

/** Reasons for which delivery drops records; `docs/delivery.md` explains each. */
export type DropReason =
  | 'queue_full'
  | 'too_large'
  | 'wrong_size'
  | 'queue_failed'
  | 'queue_unreadable'
  | 'queue_expired'
  | 'not_encoded'
  | 'encode_failed'
  | 'rejected'
  | 'retry_limit'
  | 'closed'

const REPORT_MS = 1000
/** Limit of a message: an encoder may quote its input. */
const WORDS_CHARACTERS_MAX = 200

/**
 * Counts the records of a delivery, or of another sink with its own reasons. It reports drops as records of
 * `sonde_loss`: the total of a reason at most once a second, and never during the drop, so that a report cannot cause
 * the next loss at once.
 */
export class Ledger<Reason extends string = DropReason> {
  readonly stats: SinkStats = sinkStats()
  /** The last error; empty after a request has arrived. */
  failing = ''
  readonly #component: string
  readonly #onLoss: OnLoss | undefined
  readonly #timers: Timers
  readonly #changed = new Set<Reason>()
  readonly #words = new Map<string, string>()
  #cancel: (() => void) | undefined
  #closed = false

  constructor(component: string, timers: Timers, onLoss?: OnLoss) {
    this.#component = component
    this.#timers = timers
    this.#onLoss = onLoss
  }

  arrived(records: number): void {
    this.stats.out += records
    this.failing = ''
  }

  fail(error: unknown): void {
    this.stats.errors++
    this.failing = messageOf(error)
  }

  /** The last message of the peer, the encoder or the disk for each reason of drops. */
  words(reason: string): string {
    return this.#words.get(reason) ?? ''
  }

  /** `words` is the message of the peer, without secrets. Default: the last message stays. */
  drop(reason: Reason, records: number, words = ''): void {
    if (records === 0) return
    if (words !== '') this.#words.set(reason, words.slice(0, WORDS_CHARACTERS_MAX))
    countDrop(this.stats, reason, records)
    if (this.#onLoss === undefined || this.#closed) return
    this.#changed.add(reason)
    this.#cancel ??= this.#timers.after(REPORT_MS, () => this.#report())
  }

  /** Reports the remaining drops. Later drops are only counted, because their reports could cause drops for ever. */
  close(): void {
    this.#closed = true
    this.#report()
  }

  #report(): void {
    this.#cancel?.()
    this.#cancel = undefined
    const reasons = [...this.#changed]
    this.#changed.clear()
    for (const reason of reasons) {
      const records_total = this.stats.dropped.get(reason) ?? 0
      try {
        this.#onLoss?.({ time: wallNs(), component: this.#component, reason, records_total })
      } catch (error) {
        this.fail(error)
      }
    }
  }
}
