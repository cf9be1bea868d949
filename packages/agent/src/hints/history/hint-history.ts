import { byWeightIn, type Hint, type HintsAnswer, type HintsUnknown, heldWithinMs, spanOfHint } from '@sonde/sdk/api'
import { type History, messageOf } from '@sonde/sdk/internal'
import type { KeptRecords } from '../../pipeline/kept-records.ts'
import { ENDED_KEEP_MS } from '../cases/case-book.ts'
import { hintType } from './hint-type.ts'
import { hintPauseType, pausesIn, spansWithin } from './pauses.ts'
import { unwatchedSpans } from './watched-spans.ts'
import { type Statement, statementsIn, UNSTATED_MS, windowHints } from './window-hints.ts'

/** Most statements that one question reads. Older parts of its window are reported as unknown. */
const STATEMENT_LIMIT = 20_000
/** Most hints of one answer. Policy: the latest are kept, the others are counted in `leftOut`. */
const HINT_LIMIT = 500
/** Most pauses that one question reads, the earliest first. There are a few a day. */
const PAUSE_LIMIT = 1000
/** A larger step back of the clock only shows in windows of the following day. Unit: milliseconds. */
const PAUSE_MAX_MS = 86_400_000
/**
 * Statements are read in pieces of this length, the newest first. The length doubles after an empty piece, because a
 * window may reach back to 1970. Unit: milliseconds.
 */
const PIECE_MS = 6 * 3_600_000

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

/** The hints of a span, and its unknown parts. */
interface KnownHints {
  readonly hints: readonly Hint[]
  readonly unknown: readonly HintsUnknown[]
}

/** The hints of any window: from memory, and older hints from a store if there is one. */
export class HintHistory {
  readonly #recent: RecentHints
  readonly #store: HintStore | undefined

  /** @param store Undefined if no history is kept. */
  constructor(recent: RecentHints, store: HintStore | undefined) {
    this.#recent = recent
    this.#store = store
  }

  /** Hints that were open in a window, in their state at its end. Times in milliseconds since the Unix epoch. */
  async window(fromMs: number, toMs: number): Promise<HintsAnswer> {
    const now = this.#recent.answer()
    const endMs = Math.min(toMs, now.nowMs)
    const { hints, unknown } = await this.#knownIn(fromMs, endMs, now)
    const latest = [...hints].sort((a, b) => (b.endedMs ?? b.seenMs) - (a.endedMs ?? a.seenMs)).slice(0, HINT_LIMIT)
    // A lingering hint is still open, because its outcome is unknown.
    const isOver = (hint: Hint) => hint.outcome !== undefined && spanOfHint(hint, endMs).toMs !== undefined
    return {
      ...{ nowMs: now.nowMs, rules: now.rules, blind: now.blind, fromMs, toMs },
      hints: latest.filter((hint) => !isOver(hint)).sort(byWeightIn({ fromMs, toMs: endMs })),
      ended: latest.filter(isOver),
      leftOut: hints.length - latest.length,
      unknown: unknown.filter((span) => span.toMs > span.fromMs),
    }
  }

  /** Reads the hints of the last hour from earlier lives of the agent. */
  async recallInto(hints: Recalling, nowMs = Date.now()): Promise<void> {
    if (this.#store === undefined) return
    const fromMs = nowMs - ENDED_KEEP_MS
    const { statements } = await readBackwards(this.#store.records, fromMs - UNSTATED_MS, nowMs)
    const wanted = { fromMs, toMs: nowMs, readToMs: nowMs + UNSTATED_MS, open: new Set<string>() }
    hints.recall(windowHints(statements, wanted), await this.#unwatched(this.#store, fromMs, nowMs))
  }

  async #knownIn(fromMs: number, toMs: number, now: HintsAnswer): Promise<KnownHints> {
    const own = ownIn(now, fromMs, toMs)
    if (this.#store === undefined) return { hints: own, unknown: this.#notInMemory(fromMs, toMs, now, NOT_KEPT) }
    try {
      const read = await readBackwards(this.#store.records, fromMs - UNSTATED_MS, toMs + UNSTATED_MS)
      const open = new Set(now.hints.map(({ event }) => event))
      const readToMs = Math.min(toMs + UNSTATED_MS, now.nowMs)
      const kept = windowHints(read.statements, { fromMs, toMs, readToMs, open }).map((hint) =>
        renewed(hint, own, toMs),
      )
      const known = new Set(kept.map(({ event }) => event))
      const spans = await this.#unwatched(this.#store, fromMs, toMs)
      return {
        // Hints that are not written yet are in memory.
        hints: [...kept, ...own.filter(({ event }) => !known.has(event))],
        unknown: read.fromMs > fromMs ? [tooMany(fromMs, read.fromMs), ...spans] : spans,
      }
    } catch (error) {
      const reason = `The store does not answer: ${messageOf(error)}`
      return { hints: own, unknown: this.#notInMemory(fromMs, toMs, now, reason) }
    }
  }

  /** Parts of a window without a running Sonde, or with a process that stood still. */
  async #unwatched({ history, records }: HintStore, fromMs: number, toMs: number): Promise<HintsUnknown[]> {
    // A pause is reported at its end, possibly long after the window. After a step back of the clock, the report has an
    // earlier time than the window.
    const window = { fromMs: fromMs - PAUSE_MAX_MS, toMs: Math.max(toMs, this.#recent.answer().nowMs) + UNSTATED_MS }
    const told = await records({ type: hintPauseType.name, ...window, recordLimit: PAUSE_LIMIT })
    const pauses = [...pausesIn(told), ...this.#recent.pauses]
    return spansWithin([...(await unwatchedSpans(history, fromMs, toMs)), ...pauses], fromMs, toMs)
  }

  /** The parts of a window that memory does not cover. */
  #notInMemory(fromMs: number, toMs: number, now: HintsAnswer, reason: string): HintsUnknown[] {
    const knownFromMs = Math.max(now.fromMs, this.#recent.startedMs)
    return spansWithin([{ fromMs, toMs: knownFromMs, reason }, ...this.#recent.pauses], fromMs, toMs)
  }
}

/** Hints of this life that held within a window. */
function ownIn({ hints, ended }: HintsAnswer, fromMs: number, toMs: number): Hint[] {
  return [...hints, ...ended].filter((hint) => heldWithinMs(hint, { fromMs, toMs }) >= 0)
}

/** The newer state of a hint from memory, if it is from within the window. A statement may be a minute old. */
function renewed(hint: Hint, own: readonly Hint[], toMs: number): Hint {
  const newer = own.find(({ event, seenMs }) => event === hint.event && seenMs <= toMs)
  return newer ?? hint
}

function tooMany(fromMs: number, toMs: number): HintsUnknown {
  const reason = `The window holds more than ${STATEMENT_LIMIT} statements of hints; request a shorter window.`
  return { fromMs, toMs, reason }
}

/** Reads the statements of a window, the newest first. Also returns the time from which they are complete. */
async function readBackwards(records: KeptRecords['records'], fromMs: number, toMs: number) {
  const statements: Statement[] = []
  let readFromMs = toMs
  let pieceMs = PIECE_MS
  while (readFromMs > fromMs) {
    const pieceFromMs = Math.max(fromMs, readFromMs - pieceMs)
    const room = STATEMENT_LIMIT - statements.length
    const window = { type: hintType.name, fromMs: pieceFromMs, toMs: readFromMs, recordLimit: room + 1 }
    const piece = [...statementsIn(await records(window))]
    const isTooMany = piece.length > room
    if (isTooMany && pieceMs === PIECE_MS) break
    pieceMs = piece.length === 0 ? 2 * pieceMs : PIECE_MS
    if (isTooMany) continue
    statements.push(...piece)
    readFromMs = pieceFromMs
  }
  return { statements, fromMs: readFromMs }
}
