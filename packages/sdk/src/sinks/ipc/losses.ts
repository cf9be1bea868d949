import { Ledger } from '../../delivery/ledger.ts'
import { SondeError, warnOfFault } from '../../errors.ts'
import { processTimers } from '../../internal/timers.ts'
import type { Batch } from '../../schema/batch.ts'
import { lossType } from '../../schema/builtin.ts'
import { causeOfBlockedLoop } from '../../sink/backpressure.ts'
import type { SinkStats } from '../../sink/sink.ts'
import { type Drops, UnreportedDrops } from '../../sink/unreported-drops.ts'
import { createSource } from '../../source/source.ts'
import type { IpcConfig } from './config.ts'
import { ipcDropCause } from './reasons.ts'

/** Limit of separate reasons of drops; further reasons count as `other`. */
const REASON_COUNT_MAX = 64

/** The counts of the sink: arrived and lost records with reasons, and which losses were reported. */
export class Losses {
  /** Name of the sink in messages. */
  readonly who: string
  /** Whether the pages that the spool had no room for last came in one turn of the event loop. */
  isLoopBlocked = false
  /** Why records were last dropped as `not_announced`; empty if none were. */
  notAnnouncedReason = ''
  /** Of the records that were dropped, by reason, those that the service keeps and does not show. */
  readonly hidden = new Map<string, number>()
  readonly #name: string
  readonly #ledger: Ledger<string>
  readonly #unreported: UnreportedDrops
  /** Reasons for which it was warned of drops. */
  readonly #warned = new Set<string>()

  /** @param emit Sends records about losses on the same way as the lost records. */
  constructor({ name, program, schema }: IpcConfig, emit: (batch: Batch) => void) {
    this.#name = name
    this.who = schema === '' ? name : `${name} of schema ${schema}`
    const source = createSource({ id: `${program}:${process.pid}`, emit })
    this.#ledger = new Ledger<string>(name, processTimers, (record) => {
      source.report(lossType, record)
      source.flush()
    })
    this.#unreported = new UnreportedDrops({ dropped: this.stats.dropped, hidden: this.hidden }, (reason) =>
      this.causeOf(reason),
    )
  }

  get stats(): SinkStats {
    return this.#ledger.stats
  }

  /** Reported losses, by reason. */
  get reported(): UnreportedDrops['reported'] {
    return this.#unreported.reported
  }

  /** Why records are dropped for a reason, as a sentence; empty if the reason says it. */
  causeOf(reason: string): string {
    if (reason === 'not_announced') return this.notAnnouncedReason
    return reason === 'spool_full' && this.isLoopBlocked ? causeOfBlockedLoop('spoolBytes') : ipcDropCause(reason)
  }

  /** Counts, and warns the first time; of a full spool again after everything was acknowledged. */
  drop(reason: string, records: number): void {
    if (this.#count(reason, records)) this.#warn('IPC_LOST', `${this.who} drops records as ${reason}`, reason)
  }

  /** The service keeps records, and does not show them. Counts, and warns the first time. */
  hide(reason: string, records: number): void {
    if (records > 0) this.hidden.set(reason, (this.hidden.get(reason) ?? 0) + records)
    const subject = `the service keeps, but does not show, records of ${this.who} as ${reason}`
    if (this.#count(reason, records)) this.#warn('IPC_HIDDEN', subject, reason)
  }

  /** Counts drops; returns whether it is the first drop with this reason. */
  #count(reason: string, records: number): boolean {
    this.#ledger.drop(reason, records)
    return records > 0 && reason !== 'closed' && !this.#warned.has(reason)
  }

  #warn(code: string, subject: string, reason: string): void {
    this.#warned.add(reason)
    const cause = this.causeOf(reason)
    warnOfFault(new SondeError(code, `${subject}${cause === '' ? '' : `: ${cause}`}; its status counts them`))
  }

  /** The reason as it is counted: a service may send any number of reasons, and each is kept. */
  known(reason: string): string {
    const { dropped } = this.stats
    return dropped.has(reason) || dropped.size < REASON_COUNT_MAX ? reason : 'other'
  }

  /** Records were acknowledged; `isAll`: nothing is left in the spool. */
  arrived(records: number, { isAll }: { readonly isAll: boolean }): void {
    this.#ledger.arrived(records)
    if (isAll) this.#warned.delete('spool_full')
  }

  /** The service failed. */
  fail(error: unknown): void {
    this.#ledger.fail(error)
  }

  /** Drops since the last report, or since the state `reported`; also as a sentence, which is empty without drops. */
  report(reported?: UnreportedDrops['reported']): Drops {
    const drops = this.#unreported.report(reported)
    return drops.words === '' ? drops : { ...drops, words: `${this.#name} ${drops.words}` }
  }

  /** Reports losses no more. */
  close(): void {
    this.#ledger.close()
  }
}
