import type { lossType } from '../schema/builtin.ts'
import type { RecordOf } from '../schema/record-type.ts'
import { countDrop, type SinkStats } from '../sinks/sink.ts'
import { wallNs } from '../source/clock.ts'
import type { Timers } from './timers.ts'

/** A record of `sonde_loss`. */
export type LossRecord = RecordOf<typeof lossType>

/** Where records of `sonde_loss` go: `(record) => source.report(lossType, record)`. */
export type OnLoss = (record: LossRecord) => void

const REPORT_MS = 1000

/**
 * Counts what a component drops, by reason, and tells it as records of `sonde_loss`: the total of a reason at most once a second, never
 * during the drop itself, so that a loss cannot cause itself again at once.
 */
export class LossLedger {
  readonly #component: string
  readonly #stats: SinkStats
  readonly #onLoss: OnLoss | undefined
  readonly #timers: Timers
  readonly #changed = new Set<string>()
  #cancel: (() => void) | undefined

  constructor(component: string, stats: SinkStats, timers: Timers, onLoss?: OnLoss) {
    this.#component = component
    this.#stats = stats
    this.#timers = timers
    this.#onLoss = onLoss
  }

  /** Counts records as dropped. Reasons are words of the program, never text from outside: each is a series. */
  drop(reason: string, records: number): void {
    countDrop(this.#stats, reason, records)
    if (this.#onLoss === undefined || records === 0) return
    this.#changed.add(reason)
    this.#cancel ??= this.#timers.after(REPORT_MS, () => this.report())
  }

  /** Tells now what changed since it was told last. */
  report(): void {
    this.#cancel?.()
    this.#cancel = undefined
    const reasons = [...this.#changed]
    this.#changed.clear()
    for (const reason of reasons) {
      const records_total = this.#stats.dropped.get(reason) ?? 0
      try {
        this.#onLoss?.({ time: wallNs(), component: this.#component, reason, records_total })
      } catch {
        // The loss is counted already; that telling it failed is too.
        this.#stats.errors++
      }
    }
  }
}
