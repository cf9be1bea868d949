import { messageOf, SondeError, warnOfFault } from '../errors.ts'
import { turn } from '../internal/turn.ts'
import { within } from '../internal/within.ts'
import type { Batch } from '../schema/batch.ts'
import { LateFailures } from '../sink/late-failures.ts'
import { FAILED, NOT_ENCODED, type Sink } from '../sink/sink.ts'
import { Untold } from '../sink/untold.ts'
import { type HandOut, handOut } from '../sinks/hand-out.ts'
import type { Route } from '../sinks/route.ts'
import type { Source } from '../source/source.ts'

/** Codes of errors of a flush that lost nothing yet: the records wait and are still sent. */
const PENDING_CODES: ReadonlySet<unknown> = new Set(['IPC_TIMEOUT'])

/** How long the end waits for what `accept` of a sink promised. Unit: milliseconds. */
const LATE_LIMIT_MS = 3000

/** There is room. */
const ALWAYS = Promise.resolve()

/** Why records of a flush are not kept. */
interface Fault {
  readonly message: string
  readonly cause?: unknown
}

/**
 * The way from the sources of a schema to its sinks. Records that a source or a sink drops are an error of the next
 * flush, also where the sink resolves its own flush. A sink gets one warning a reason.
 */
export class Outlet implements HandOut {
  readonly routes: readonly Route[]
  readonly sinks: readonly Sink[]
  /** Those that a flush, and who waits for room, waits for. */
  readonly #waitedFor: readonly Sink[]
  /** Records that were handed to the sinks. */
  records = 0
  readonly #schema: string
  readonly #untold: ReadonlyMap<Sink, Untold>
  /** By sink: the reasons that a warning has named. */
  readonly #warned: ReadonlyMap<Sink, Set<string>>
  /** By sink: what its `accept` threw last. */
  readonly #thrown = new Map<Sink, unknown>()
  /** By sink: what its `accept` promised. */
  readonly #late: ReadonlyMap<Sink, LateFailures>
  /** `records` when somebody last asked for room, and the answer, which holds until there are more. */
  #askedRecords = 0
  #ready = ALWAYS

  /** `warnsItself` is a sink that needs no warning from here. */
  constructor(schema: string, routes: readonly Route[], warnsItself?: Sink) {
    const sinks = routes.map(({ sink }) => sink)
    this.#schema = schema
    this.routes = routes
    this.sinks = sinks
    this.#waitedFor = routes.filter(({ acknowledges }) => acknowledges).map(({ sink }) => sink)
    this.#untold = new Map(sinks.map((sink) => [sink, new Untold(sink.stats, (reason) => this.#causeOf(sink, reason))]))
    this.#late = new Map(sinks.map((sink) => [sink, new LateFailures()]))
    this.#warned = new Map(sinks.filter((sink) => sink !== warnsItself).map((sink) => [sink, new Set()]))
  }

  accept(batch: Batch): void {
    this.records += batch.count
    handOut(batch, this)
    for (const sink of this.sinks) this.#warnOf(sink)
  }

  /** What a sink promised. */
  lateOf(sink: Sink): LateFailures {
    return this.#late.get(sink) as LateFailures
  }

  /** A sink threw. */
  failed(sink: Sink, error: unknown): void {
    this.#thrown.set(sink, error)
    this.#warnOf(sink)
  }

  /**
   * Resolves when every sink that is waited for has room again. Where all of them have, it resolves at once, but in the
   * next turn of the event loop where this turn took long: sinks send between two turns.
   */
  ready(): Promise<void> {
    if (this.records !== this.#askedRecords) {
      this.#askedRecords = this.records
      this.#ready = this.#whenReady()
    }
    return this.#ready
  }

  /**
   * Resolves once every sink that is waited for has acknowledged what it was handed.
   *
   * @throws SondeError `TEL_LOST` where a sink or one of `sources` dropped records, `TEL_PENDING` where records only
   * wait for longer than a limit.
   */
  async acknowledged(sources: readonly Source[] = []): Promise<void> {
    const told = sources.map(({ losses }) => losses.told)
    const faults = await Promise.all(this.#waitedFor.map((sink) => this.#flush(sink)))
    this.#fail([...faults, ...sources.map((source, i) => faultOf(source, told[i]))], 'TEL_PENDING')
  }

  /**
   * Flushes and closes the sinks. `sources` are closed already.
   *
   * @throws SondeError `TEL_LOST` where a sink or one of `sources` dropped records; all sinks are closed then too.
   */
  async close(sources: readonly Source[]): Promise<void> {
    const told = sources.map(({ losses }) => losses.told)
    const faults = await Promise.all(this.sinks.map((sink) => this.#close(sink)))
    this.#fail([...faults, ...sources.map((source, i) => faultOf(source, told[i]))], 'TEL_LOST')
  }

  /**
   * What was dropped and nobody has heard of, as a sentence; empty where nothing was. Sinks say themselves what they
   * dropped, but not what they threw.
   */
  unheard(sources: readonly Source[]): string {
    const thrown = [...this.#thrown.keys()].map((sink) => this.#dropped(sink))
    const faults = [...thrown, ...sources.map((source) => faultOf(source))]
    return faults.flatMap((fault) => fault?.message ?? []).join('; ')
  }

  #whenReady(): Promise<void> {
    const waits = this.#waitedFor.flatMap((sink) => readyOf(sink) ?? [])
    if (waits.length > 0) return Promise.allSettled(waits).then(() => undefined)
    return turn.isOver() ? turn.next() : ALWAYS
  }

  async #flush(sink: Sink, told = this.#untold.get(sink)?.told): Promise<Fault | undefined> {
    const late = this.lateOf(sink)
    if (late.isPending) await late.settled()
    const fault = await failureOf(sink, () => sink.flush())
    const dropped = this.#dropped(sink, told)
    return fault ?? dropped
  }

  async #close(sink: Sink): Promise<Fault | undefined> {
    const told = this.#untold.get(sink)?.told
    const late = this.lateOf(sink)
    if (late.isPending) await within(LATE_LIMIT_MS, late.settled())
    // A sink closes within a limit of time, which its flush may not have.
    const flushed = this.#flush(sink, told)
    const closed = await failureOf(sink, () => sink.close())
    const fault = (await Promise.race([flushed, turn.next()])) ?? closed
    return fault ?? this.#dropped(sink)
  }

  #dropped(sink: Sink, told?: ReadonlyMap<string, number>): Fault | undefined {
    const dropped = this.#untold.get(sink)?.tell(told) ?? ''
    if (dropped === '') return undefined
    return { message: `${sink.name} dropped ${dropped}`, cause: this.#thrown.get(sink) }
  }

  #fail(found: readonly (Fault | undefined)[], codeWherePending: string): void {
    const faults = found.filter((fault) => fault !== undefined)
    if (faults.length === 0) return
    const isPending = faults.every(({ cause }) => cause instanceof SondeError && PENDING_CODES.has(cause.code))
    const code = isPending ? codeWherePending : 'TEL_LOST'
    const what = code === 'TEL_LOST' ? 'not everything was kept' : 'not everything is acknowledged yet'
    const message = `schema ${this.#schema}: ${what}: ${faults.map(({ message }) => message).join('; ')}`
    throw new SondeError(code, message, { cause: faults[0]?.cause })
  }

  #warnOf(sink: Sink): void {
    const warned = this.#warned.get(sink)
    if (warned === undefined || sink.stats.dropped.size <= warned.size) return
    for (const reason of sink.stats.dropped.keys()) {
      if (warned.has(reason)) continue
      warned.add(reason)
      if (reason === 'closed' || reason === NOT_ENCODED) continue
      const cause = this.#causeOf(sink, reason)
      const message = `${sink.name} of schema ${this.#schema} drops records as ${reason}${cause === '' ? '' : `: ${cause}`}; its status counts them`
      warnOfFault(new SondeError('TEL_LOST', message))
    }
  }

  #causeOf(sink: Sink, reason: string): string {
    if (reason === FAILED && this.#thrown.has(sink)) return `accept threw: ${messageOf(this.#thrown.get(sink))}`
    try {
      return sink.causeOf?.(reason) ?? ''
    } catch {
      // The reason has to speak for itself.
      sink.stats.errors++
      return ''
    }
  }
}

/** What `ready` of a sink gives. Where it throws, nobody waits for that sink. */
function readyOf(sink: Sink): Promise<void> | undefined {
  try {
    return sink.ready?.()
  } catch {
    sink.stats.errors++
    return undefined
  }
}

/** What became of something that a sink was to do. */
async function failureOf({ name }: Sink, act: () => Promise<void>): Promise<Fault | undefined> {
  try {
    await act()
    return undefined
  } catch (cause) {
    return { message: `${name}: ${messageOf(cause)}`, cause }
  }
}

/** What a source dropped beyond what was `told`. */
function faultOf({ info, losses }: Source, told?: ReadonlyMap<string, number>): Fault | undefined {
  const dropped = losses.tell(told)
  return dropped === '' ? undefined : { message: `source ${info.id} dropped ${dropped}` }
}
