import { messageOf, SondeError, warnOfFault } from '../errors.ts'
import { turn } from '../internal/turn.ts'
import { within } from '../internal/within.ts'
import type { Batch } from '../schema/batch.ts'
import { countsIn, type FlushCounts, FlushError, sumOfCounts } from '../sink/flush-error.ts'
import { LateFailures } from '../sink/late-failures.ts'
import { FAILED, NOT_ENCODED, type Sink, sinkDropCause } from '../sink/sink.ts'
import { type Drops, UnreportedDrops } from '../sink/unreported-drops.ts'
import { type HandOut, handOut } from '../sinks/hand-out.ts'
import type { Route } from '../sinks/route.ts'
import type { Source } from '../source/source.ts'

/** How long `close` waits for promises of `accept`. Unit: milliseconds. */
const LATE_LIMIT_MS = 3000

const LOST = ['TEL_LOST', 'not everything was kept'] as const
const PENDING = ['TEL_PENDING', 'not everything is acknowledged yet'] as const
const HIDDEN = ['TEL_HIDDEN', 'not everything is shown'] as const

/** The producer need not wait. */
const ALWAYS = Promise.resolve()

/** Why a flush is not acknowledged. */
interface Fault extends FlushCounts {
  readonly message: string
  readonly cause?: unknown
  /** Whether an unknown number of records may be lost. */
  readonly isLoss: boolean
}

/**
 * Passes batches from the sources of a schema to its sinks. Records that a source or a sink drops make the next flush
 * fail, even if the flush of the sink succeeds. A sink prints one warning for each reason.
 */
export class Outlet implements HandOut {
  readonly routes: readonly Route[]
  readonly sinks: readonly Sink[]
  /** The sinks that `flush` and `ready` wait for. */
  readonly #waitedFor: readonly Sink[]
  /** Number of records passed to the sinks. */
  records = 0
  readonly #schema: string
  readonly #unreported: ReadonlyMap<Sink, UnreportedDrops>
  /** By sink: the reasons for which a warning was printed. */
  readonly #warned: ReadonlyMap<Sink, Set<string>>
  /** By sink: the last error of its `accept`. */
  readonly #thrown = new Map<Sink, unknown>()
  /** By sink: the pending promises of its `accept`. */
  readonly #late: ReadonlyMap<Sink, LateFailures>
  /** The value of `records` at the last call of `ready`, and its answer, which is valid until `records` changes. */
  #askedRecords = 0
  #ready = ALWAYS

  /** `warnsItself`: a sink that prints its own warnings. */
  constructor(schema: string, routes: readonly Route[], warnsItself?: Sink) {
    const sinks = routes.map(({ sink }) => sink)
    this.#schema = schema
    this.routes = routes
    this.sinks = sinks
    this.#waitedFor = routes.filter(({ acknowledges }) => acknowledges).map(({ sink }) => sink)
    this.#unreported = new Map(sinks.map((sink) => [sink, this.#unreportedOf(sink)]))
    this.#late = new Map(sinks.map((sink) => [sink, new LateFailures()]))
    this.#warned = new Map(sinks.filter((sink) => sink !== warnsItself).map((sink) => [sink, new Set()]))
  }

  accept(batch: Batch): void {
    this.records += batch.count
    handOut(batch, this)
    for (const sink of this.sinks) this.#warnOf(sink)
  }

  /** Watches a promise of a sink. */
  lateOf(sink: Sink): LateFailures {
    return this.#late.get(sink) as LateFailures
  }

  /** Counts the error of a sink. */
  failed(sink: Sink, error: unknown): void {
    this.#thrown.set(sink, error)
    this.#warnOf(sink)
  }

  /**
   * Resolves when no sink makes producers wait. If none does, it resolves at once, or in the next turn of the event
   * loop if this turn took long: sinks send between two turns.
   */
  ready(): Promise<void> {
    if (this.records !== this.#askedRecords) {
      this.#askedRecords = this.records
      this.#ready = this.#whenReady()
    }
    return this.#ready
  }

  /**
   * Resolves when every sink that counts has acknowledged its records.
   *
   * @throws FlushError `TEL_LOST` if a sink or one of `sources` lost records, `TEL_PENDING` if records only wait for
   * longer than a limit, `TEL_HIDDEN` if a view does not show records that are acknowledged.
   */
  async acknowledged(sources: readonly Source[] = []): Promise<void> {
    const reported = sources.map(({ losses }) => losses.reported)
    const faults = await Promise.all(this.#waitedFor.map((sink) => this.#flush(sink)))
    this.#fail([...faults, ...sources.map((source, i) => faultOf(source, reported[i]))])
  }

  /**
   * Flushes and closes the sinks. `sources` are already closed.
   *
   * @throws FlushError `TEL_LOST` if a sink or one of `sources` lost records, `TEL_HIDDEN` if a view does not show
   * records that are kept. All sinks are closed even then.
   */
  async close(sources: readonly Source[]): Promise<void> {
    const reported = sources.map(({ losses }) => losses.reported)
    const faults = await Promise.all(this.sinks.map((sink) => this.#close(sink)))
    const all = [...faults, ...sources.map((source, i) => faultOf(source, reported[i]))]
    // Pending promises are no longer waited for.
    this.#fail(all.map((fault) => fault && { ...fault, isLoss: fault.isLoss || fault.pending > 0 }))
  }

  /**
   * A sentence about drops that were not reported; empty if there are none. Sinks report their drops themselves, but
   * not their errors.
   */
  unheard(sources: readonly Source[]): string {
    const thrown = [...this.#thrown.keys()].map((sink) => this.#dropped(sink))
    const faults = [...thrown, ...sources.map((source) => faultOf(source))]
    return faults.flatMap((fault) => (fault?.isLoss ? fault.message : [])).join('; ')
  }

  #unreportedOf(sink: Sink): UnreportedDrops {
    const counts = {
      dropped: sink.stats.dropped,
      get hidden() {
        return sink.hidden
      },
    }
    return new UnreportedDrops(counts, (reason) => this.#causeOf(sink, reason))
  }

  #whenReady(): Promise<void> {
    const waits = this.#waitedFor.flatMap((sink) => readyOf(sink) ?? [])
    if (waits.length > 0) return Promise.allSettled(waits).then(() => undefined)
    return turn.isOver() ? turn.next() : ALWAYS
  }

  async #flush(sink: Sink, reported = this.#unreported.get(sink)?.reported): Promise<Fault | undefined> {
    const late = this.lateOf(sink)
    if (late.isPending) await late.settled()
    const fault = await failureOf(sink, () => sink.flush())
    return merged(fault, this.#dropped(sink, reported))
  }

  async #close(sink: Sink): Promise<Fault | undefined> {
    const reported = this.#unreported.get(sink)?.reported
    const late = this.lateOf(sink)
    if (late.isPending) await within(LATE_LIMIT_MS, late.settled())
    // `close` of a sink has a time limit; its `flush` may have none.
    const flushed = this.#flush(sink, reported)
    const closed = await failureOf(sink, () => sink.close())
    const fault = (await Promise.race([flushed, turn.next()])) ?? closed
    return merged(fault, this.#dropped(sink))
  }

  #dropped(sink: Sink, reported?: UnreportedDrops['reported']): Fault | undefined {
    return faultIn(sink.name, this.#unreported.get(sink)?.report(reported), this.#thrown.get(sink))
  }

  #fail(found: readonly (Fault | undefined)[]): void {
    const faults = found.filter((fault) => fault !== undefined)
    if (faults.length === 0) return
    const counts = sumOfCounts(faults)
    const isLoss = faults.some((fault) => fault.isLoss)
    const [code, what] = isLoss ? LOST : counts.pending > 0 ? PENDING : HIDDEN
    const message = `schema ${this.#schema}: ${what}: ${faults.map(({ message }) => message).join('; ')}`
    throw new FlushError(code, message, counts, { cause: faults[0]?.cause })
  }

  #warnOf(sink: Sink): void {
    const warned = this.#warned.get(sink)
    if (warned === undefined || sink.stats.dropped.size <= warned.size) return
    for (const reason of sink.stats.dropped.keys()) {
      if (warned.has(reason)) continue
      warned.add(reason)
      if (reason === 'closed' || reason === NOT_ENCODED) continue
      const cause = this.#causeOf(sink, reason)
      const [code, verb] = sink.hidden?.has(reason) ? ['TEL_HIDDEN', 'does not show'] : ['TEL_LOST', 'drops']
      const subject = `${sink.name} of schema ${this.#schema} ${verb} records as ${reason}`
      warnOfFault(new SondeError(code, `${subject}${cause === '' ? '' : `: ${cause}`}; its status counts them`))
    }
  }

  #causeOf(sink: Sink, reason: string): string {
    if (reason === FAILED && this.#thrown.has(sink)) return `accept threw: ${messageOf(this.#thrown.get(sink))}`
    return sinkDropCause(sink, reason)
  }
}

/** The result of `ready` of a sink. If it throws, producers do not wait for that sink. */
function readyOf(sink: Sink): Promise<void> | undefined {
  try {
    return sink.ready?.()
  } catch {
    sink.stats.errors++
    return undefined
  }
}

/** The result of a call of a sink. */
async function failureOf({ name }: Sink, act: () => Promise<void>): Promise<Fault | undefined> {
  try {
    await act()
    return undefined
  } catch (cause) {
    const { lost, hidden, pending } = countsIn(cause)
    // An error without counts means an unknown number of lost records.
    const isLoss = lost > 0 || hidden + pending === 0
    return { message: `${name}: ${messageOf(cause)}`, cause, lost, hidden, pending, isLoss }
  }
}

/** Drops of a source after the state `reported`. */
function faultOf({ info, losses }: Source, reported?: UnreportedDrops['reported']): Fault | undefined {
  return faultIn(`source ${info.id}`, losses.report(reported))
}

function faultIn(name: string, drops: Drops | undefined, cause?: unknown): Fault | undefined {
  if (drops === undefined || drops.words === '') return undefined
  const { lost, hidden, words } = drops
  return { message: `${name} ${words}`, cause, lost, hidden, pending: 0, isLoss: lost > 0 }
}

/** The words of a failed flush with its drops. The drops have the counts if the flush has none. */
function merged(failed: Fault | undefined, drops: Fault | undefined): Fault | undefined {
  if (failed === undefined || drops === undefined) return failed ?? drops
  return {
    ...failed,
    lost: Math.max(failed.lost, drops.lost),
    hidden: Math.max(failed.hidden, drops.hidden),
    isLoss: failed.isLoss || drops.isLoss,
  }
}
