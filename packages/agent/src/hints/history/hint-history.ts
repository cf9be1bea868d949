import { type Hint, type HintsAnswer, type HintsUnknown, type HintWindow, isInWindow, spanOfHint } from '@sonde/sdk/api'
import { type History, messageOf } from '@sonde/sdk/internal'
import { interruptionsIn, interruptionType } from '../../interruptions/interruption.ts'
import type { KeptRecords } from '../../pipeline/kept-records.ts'
import { ENDED_KEEP_MS } from '../cases/case-book.ts'
import { hintType } from './hint-type.ts'
import { hintPauseType, pausesIn, spansWithin } from './pauses.ts'
import { readStatements, STATEMENT_LIMIT, type StatementsRead, statementsBackwards } from './read-statements.ts'
import { outside, STRETCH_MAX_MS, simulatedPastType, stretchesIn } from './simulated-past-type.ts'
import { explained, unwatchedSpans } from './watched-spans.ts'
import { cutHint, hintEnd, lastSeenIn, type Statement, statementsIn, UNSTATED_MS, windowHints } from './window-hints.ts'

/** Most pauses that one question reads, the earliest first. There are a few a day. */
const PAUSE_LIMIT = 1000
/** Most stretches of a simulated past that one question reads, the earliest first. A day has 1440. */
const STRETCH_LIMIT = 4000
/** A shorter gap beside a simulated past is the time between two samples, or of the start. Unit: milliseconds. */
const GAP_LEAST_MS = 10_000
/** A larger step back of the clock only shows in windows of the following day. Unit: milliseconds. */
const PAUSE_MAX_MS = 86_400_000
const NOT_KEPT =
  'No history is kept: ended hints are forgotten after an hour or with the process. Set store.enabled to keep it.'

/** The sources of hints besides memory. */
export interface HintStore {
  readonly records: KeptRecords['records']
  readonly history: History
}

/** Hints in memory, from this life of the agent. */
export interface RecentHints {
  answer(): HintsAnswer
  /** Time of the first rule evaluation. Unit: milliseconds since the Unix epoch. */
  readonly startedMs: number
  /** Times of this life without rule evaluations. */
  readonly pauses: readonly HintsUnknown[]
}

/** Takes hints of earlier lives. */
interface Recalling {
  recall(ended: readonly Hint[], unknown: readonly HintsUnknown[]): void
}

/** Facts that complete the statements of a window. */
interface Known {
  /** Events that are open in memory. */
  readonly open: ReadonlySet<string>
  readonly nowMs: number
  /** When each hint was last seen to hold. */
  readonly seen: Map<string, number>
}

/** The hints of a span, and its unknown parts. */
export interface KnownHints {
  readonly hints: readonly Hint[]
  readonly unknown: readonly HintsUnknown[]
  /** The hints are complete from this time on: later than the window's start if that is enough, or has too many. */
  readonly fromMs: number
  /** Records of hints that are not readable. */
  readonly unreadable: number
}

/** Whether the hints from a time on are enough. Ends that come after the window are not known yet. */
export type IsEnough = (hints: readonly Hint[], fromMs: number) => boolean

/** The hints of any window: from memory, and older hints from a store if there is one. */
export class HintHistory {
  readonly #recent: RecentHints
  readonly #store: HintStore | undefined
  readonly #interruption: () => HintsUnknown | undefined

  /**
   * @param store Undefined if no history is kept.
   * @param interruption The time before this start in which Sonde did not run because it had not stopped.
   */
  constructor(
    recent: RecentHints,
    store: HintStore | undefined,
    interruption: () => HintsUnknown | undefined = () => undefined,
  ) {
    this.#recent = recent
    this.#store = store
    this.#interruption = interruption
  }

  /** The hints of now and of the last hour, from memory. */
  recent(): HintsAnswer {
    return this.#recent.answer()
  }

  /** Reads the hints of the last hour from earlier lives of the agent. */
  async recallInto(hints: Recalling, nowMs = Date.now()): Promise<void> {
    if (this.#store === undefined) return
    const fromMs = nowMs - ENDED_KEEP_MS
    const { statements } = await readStatements(this.#store.records, fromMs - UNSTATED_MS, nowMs)
    const window = { fromMs, toMs: nowMs }
    const now = { open: new Set<string>(), nowMs, seen: lastSeenIn(statements) }
    const kept = await this.#withCuts(this.#store, await windowHints(statements, window), now)
    hints.recall(
      kept.filter((hint) => isInWindow(spanOfHint(hint), window)),
      await this.#unwatched(this.#store, fromMs, nowMs),
    )
  }

  /**
   * Hints that held in a window, in their state at its end, with the time at which they ended. Times in milliseconds
   * since the Unix epoch; the window ends now at the latest. The latest hints are read first, until they are enough.
   */
  async window(fromMs: number, toMs: number, isEnough: IsEnough = () => false): Promise<KnownHints> {
    const now = this.#recent.answer()
    const own = ownIn(now, fromMs, toMs)
    const memory = { hints: own, fromMs, unreadable: 0 }
    if (this.#store === undefined) return { ...memory, unknown: this.#notInMemory(fromMs, toMs, now, NOT_KEPT) }
    try {
      const { records } = this.#store
      const read = await this.#readWindow(this.#store, { fromMs, toMs }, own, isEnough)
      const open = new Set(now.hints.map(({ event }) => event))
      const readToMs = Math.min(toMs + UNSTATED_MS, now.nowMs)
      const spans = await this.#unwatched(this.#store, fromMs, toMs)
      const seen = lastSeenIn(read.statements)
      const ended = await withEnds(read.hints, { records, open, fromMs: readToMs, nowMs: now.nowMs, seen })
      const cut = await this.#withCuts(this.#store, ended, { open, nowMs: now.nowMs, seen })
      return {
        hints: cut.filter((hint) => isInWindow(spanOfHint(hint), { fromMs, toMs })),
        unknown: spans.filter((span) => span.toMs > span.fromMs),
        fromMs: Math.max(fromMs, read.fromMs),
        unreadable: read.unreadable,
      }
    } catch (error) {
      const reason = `The store does not answer: ${messageOf(error)}`
      return { ...memory, unknown: this.#notInMemory(fromMs, toMs, now, reason) }
    }
  }

  async #readWindow({ records }: HintStore, window: HintWindow, own: readonly Hint[], isEnough: IsEnough) {
    const { fromMs, toMs } = window
    const newer = new Map(own.flatMap((hint) => (hint.seenMs <= toMs ? [[hint.event, hint]] : [])))
    const hintsOf = async (statements: readonly Statement[]) => {
      const kept = await windowHints(statements, window)
      const known = new Set(kept.map(({ event }) => event))
      // A statement may be a minute old: memory has the newer state, and hints that are not written yet.
      return [...kept.map((hint) => newer.get(hint.event) ?? hint), ...own.filter(({ event }) => !known.has(event))]
    }
    let read: StatementsRead = { statements: [], unreadable: 0, fromMs: toMs + UNSTATED_MS }
    let asked = 0
    for await (read of statementsBackwards(records, fromMs - UNSTATED_MS, toMs + UNSTATED_MS)) {
      // All hints are made again for each question, so the number of statements doubles between two questions.
      if (read.statements.length < 2 * asked) continue
      asked = read.statements.length
      const hints = await hintsOf(read.statements)
      if (isEnough(hints, read.fromMs)) return { ...read, hints }
    }
    return { ...read, hints: await hintsOf(read.statements) }
  }

  /** The parts of a window without samples, or without a store that answers; in their order. */
  async unknownIn({ fromMs, toMs }: HintWindow): Promise<readonly HintsUnknown[]> {
    const now = this.#recent.answer()
    if (this.#store === undefined) return this.#notInMemory(fromMs, toMs, now, NOT_KEPT)
    try {
      return await this.#unwatched(this.#store, fromMs, toMs)
    } catch (error) {
      return this.#notInMemory(fromMs, toMs, now, `The store does not answer: ${messageOf(error)}`)
    }
  }

  /** Everything that was stated about some hints in a span, the earliest first; empty if no history is kept. */
  async statements(events: ReadonlySet<string>, fromMs: number, toMs: number): Promise<readonly Statement[]> {
    if (this.#store === undefined) return []
    const { statements } = await readStatements(this.#store.records, fromMs, toMs)
    return statements.filter(({ event }) => events.has(String(event))).sort((a, b) => Number(a.time) - Number(b.time))
  }

  /** Ends hints of earlier lives that were still open: they held until that process stood still or ended. */
  async #withCuts(store: HintStore, hints: readonly Hint[], { open, nowMs, seen }: Known): Promise<Hint[]> {
    const isCut = ({ event, endedMs }: Hint) => endedMs === undefined && !open.has(event)
    const lastSeenMs = ({ event, seenMs }: Hint) => Math.max(seenMs, seen.get(event) ?? 0)
    const firstMs = Math.min(...hints.filter(isCut).map(lastSeenMs))
    const unwatched = firstMs < nowMs ? await this.#unwatched(store, firstMs, nowMs) : []
    return hints.map((hint) => (isCut(hint) ? cutHint(hint, lastSeenMs(hint), unwatched) : hint))
  }

  /** Parts of a window without a running Sonde, or with a process that stood still. */
  async #unwatched({ history, records }: HintStore, fromMs: number, toMs: number): Promise<HintsUnknown[]> {
    // A pause is reported at its end, possibly long after the window. After a step back of the clock, the report has an
    // earlier time than the window.
    const window = { fromMs: fromMs - PAUSE_MAX_MS, toMs: Math.max(toMs, this.#recent.answer().nowMs) + UNSTATED_MS }
    const told = (type: string) => records({ type, ...window, recordLimit: PAUSE_LIMIT })
    const pauses = [...pausesIn(await told(hintPauseType.name)), ...this.#recent.pauses]
    const interruptions = [...interruptionsIn(await told(interruptionType.name)), ...this.#ownInterruption]
    const unwatched = await this.#notSimulated(records, await unwatchedSpans(history, fromMs, toMs))
    return spansWithin([...explained(unwatched, interruptions), ...pauses], fromMs, toMs)
  }

  /** Sonde did not run in a simulated past, and its hints are known all the same. */
  async #notSimulated(records: KeptRecords['records'], spans: readonly HintsUnknown[]): Promise<HintsUnknown[]> {
    const [first] = spans
    const last = spans.at(-1)
    if (first === undefined || last === undefined) return []
    const window = { fromMs: first.fromMs, toMs: last.toMs + STRETCH_MAX_MS, recordLimit: STRETCH_LIMIT }
    return outside(spans, stretchesIn(await records({ type: simulatedPastType.name, ...window }))).filter(
      (span) => span.toMs - span.fromMs >= GAP_LEAST_MS,
    )
  }

  /** The parts of a window that memory does not cover. */
  #notInMemory(fromMs: number, toMs: number, now: HintsAnswer, reason: string): HintsUnknown[] {
    const knownFromMs = Math.max(now.fromMs, this.#recent.startedMs)
    const known = [...this.#ownInterruption, ...this.#recent.pauses]
    return spansWithin([{ fromMs, toMs: knownFromMs, reason }, ...known], fromMs, toMs)
  }

  /** That of this start, because it may not be written yet. */
  get #ownInterruption(): readonly HintsUnknown[] {
    const own = this.#interruption()
    return own === undefined ? [] : [own]
  }
}

/** Hints of this life that held within a window. */
function ownIn({ hints, ended }: HintsAnswer, fromMs: number, toMs: number): Hint[] {
  return [...hints, ...ended].filter((hint) => isInWindow(spanOfHint(hint), { fromMs, toMs }))
}

/** Adds the ends of hints that went on after the statements that were read, and notes when they were last seen. */
async function withEnds(
  hints: readonly Hint[],
  { records, open, fromMs, nowMs, seen }: Known & { readonly records: KeptRecords['records']; readonly fromMs: number },
): Promise<Hint[]> {
  const awaited = new Set(hints.flatMap(({ event, endedMs }) => (endedMs === undefined ? [event] : [])))
  for (const event of open) awaited.delete(event)
  const ends = new Map<string, Pick<Hint, 'endedMs' | 'outcome'>>()
  let atMs = fromMs
  let pieceMs = UNSTATED_MS
  while (awaited.size > 0 && atMs < nowMs) {
    const toMs = Math.min(nowMs, atMs + pieceMs)
    const window = { type: hintType.name, fromMs: atMs, toMs, recordLimit: STATEMENT_LIMIT }
    const { statements: read } = await statementsIn(await records(window))
    for (const [event, seenMs] of lastSeenIn(read)) seen.set(event, Math.max(seenMs, seen.get(event) ?? 0))
    const latest = new Map(read.map((statement) => [String(statement.event), statement]))
    for (const event of awaited) {
      const last = latest.get(event)
      // Without a statement in this piece, the last statement was before it.
      const end = last === undefined ? undefined : hintEnd(last)
      if (end !== undefined) ends.set(event, end)
      if (end !== undefined || last === undefined) awaited.delete(event)
    }
    atMs = toMs
    pieceMs *= 2
  }
  return hints.map((hint) => ({ ...hint, ...ends.get(hint.event) }))
}
