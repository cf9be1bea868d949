import { type History, messageOf } from '@sonde/sdk'
import { byWeightIn, type Hint, type HintsAnswer, type HintsUnknown, heldWithinMs, spanOfHint } from '@sonde/sdk/api'
import type { KeptRecords } from '../../pipeline/kept-records.ts'
import { ENDED_KEEP_MS } from '../cases/case-book.ts'
import { hintType } from './hint-type.ts'
import { hintsOf, type Statement, statementsIn, UNSTATED_MS } from './hints-of.ts'
import { hintPauseType, pausesIn, spansWithin } from './pauses.ts'
import { unwatchedSpans } from './watched-spans.ts'

/** Statements that one question reads at most; what is older of its window is said to be unknown. */
const STATEMENT_LIMIT = 20_000
/** Hints of one answer at most. Policy: the latest stay, the others are counted in `leftOut`. */
const HINT_LIMIT = 500
/** Pauses that one question reads at most, the earliest: there are a few a day. */
const PAUSE_LIMIT = 1000
/** A clock that was set back farther is told in windows of the following day alone. Unit: milliseconds. */
const PAUSE_MAX_MS = 86_400_000
/**
 * Statements are read in pieces of this length, the newest first, and of twice the length where the one before was
 * empty: a window may reach back to 1970. Unit: milliseconds.
 */
const PIECE_MS = 6 * 3_600_000

const NOT_KEPT =
  'No history is kept, and what was is forgotten after an hour or with the process; store.enabled keeps it.'

/** What is asked beside memory. */
export interface HintStore {
  readonly records: KeptRecords['records']
  readonly history: History
}

/** Hints in memory: those of this life of the agent. */
export interface RecentHints {
  answer(): HintsAnswer
  /** When rules were asked first. Unit: milliseconds since the Unix epoch. */
  readonly startedMs: number
  /** Times of this life in which rules were not asked. */
  readonly pauses: readonly HintsUnknown[]
}

/** What takes hints of earlier lives. */
interface Recalling {
  recall(ended: readonly Hint[], unknown: readonly HintsUnknown[]): void
}

/** What is known of a span: hints that were open in it, and the parts of which nothing is known. */
interface Known {
  readonly hints: readonly Hint[]
  readonly unknown: readonly HintsUnknown[]
}

/** The hints of any window: those in memory, and where there is a store those of before. */
export class HintHistory {
  readonly #recent: RecentHints
  readonly #store: HintStore | undefined

  /** @param store Undefined if history is kept nowhere. */
  constructor(recent: RecentHints, store: HintStore | undefined) {
    this.#recent = recent
    this.#store = store
  }

  /** Hints that were open in a window, as they were at its end. Times in milliseconds since the Unix epoch. */
  async window(fromMs: number, toMs: number): Promise<HintsAnswer> {
    const now = this.#recent.answer()
    const endMs = Math.min(toMs, now.nowMs)
    const { hints, unknown } = await this.#knownIn(fromMs, endMs, now)
    const latest = [...hints].sort((a, b) => (b.endedMs ?? b.seenMs) - (a.endedMs ?? a.seenMs)).slice(0, HINT_LIMIT)
    // What waits whether it holds again is open: its outcome is not known.
    const isOver = (hint: Hint) => hint.outcome !== undefined && spanOfHint(hint, endMs).toMs !== undefined
    return {
      ...{ nowMs: now.nowMs, rules: now.rules, blind: now.blind, fromMs, toMs },
      hints: latest.filter((hint) => !isOver(hint)).sort(byWeightIn({ fromMs, toMs: endMs })),
      ended: latest.filter(isOver),
      leftOut: hints.length - latest.length,
      unknown: unknown.filter((span) => span.toMs > span.fromMs),
    }
  }

  /** Reads what earlier lives of the agent saw in the hour before now. */
  async recallInto(hints: Recalling, nowMs = Date.now()): Promise<void> {
    if (this.#store === undefined) return
    const fromMs = nowMs - ENDED_KEEP_MS
    const { statements } = await readBackwards(this.#store.records, fromMs - UNSTATED_MS, nowMs)
    const wanted = { fromMs, toMs: nowMs, readToMs: nowMs + UNSTATED_MS, open: new Set<string>() }
    hints.recall(hintsOf(statements, wanted), await this.#unwatched(this.#store, fromMs, nowMs))
  }

  async #knownIn(fromMs: number, toMs: number, now: HintsAnswer): Promise<Known> {
    const own = ownIn(now, fromMs, toMs)
    if (this.#store === undefined) return { hints: own, unknown: this.#notInMemory(fromMs, toMs, now, NOT_KEPT) }
    try {
      const read = await readBackwards(this.#store.records, fromMs - UNSTATED_MS, toMs + UNSTATED_MS)
      const open = new Set(now.hints.map(({ event }) => event))
      const readToMs = Math.min(toMs + UNSTATED_MS, now.nowMs)
      const kept = hintsOf(read.statements, { fromMs, toMs, readToMs, open }).map((hint) => renewed(hint, own, toMs))
      const known = new Set(kept.map(({ event }) => event))
      const spans = await this.#unwatched(this.#store, fromMs, toMs)
      return {
        // What was not yet written is in memory.
        hints: [...kept, ...own.filter(({ event }) => !known.has(event))],
        unknown: read.fromMs > fromMs ? [tooMany(fromMs, read.fromMs), ...spans] : spans,
      }
    } catch (error) {
      const reason = `The store does not answer: ${messageOf(error)}`
      return { hints: own, unknown: this.#notInMemory(fromMs, toMs, now, reason) }
    }
  }

  /** Parts of a window in which Sonde did not run, or stood still. */
  async #unwatched({ history, records }: HintStore, fromMs: number, toMs: number): Promise<HintsUnknown[]> {
    // A pause is told when it is over, long after the window maybe; of a clock that was set back, before it.
    const window = { fromMs: fromMs - PAUSE_MAX_MS, toMs: Math.max(toMs, this.#recent.answer().nowMs) + UNSTATED_MS }
    const told = await records({ type: hintPauseType.name, ...window, recordLimit: PAUSE_LIMIT })
    const pauses = [...pausesIn(told), ...this.#recent.pauses]
    return spansWithin([...(await unwatchedSpans(history, fromMs, toMs)), ...pauses], fromMs, toMs)
  }

  /** What memory does not hold of a window. */
  #notInMemory(fromMs: number, toMs: number, now: HintsAnswer, reason: string): HintsUnknown[] {
    const knownFromMs = Math.max(now.fromMs, this.#recent.startedMs)
    return spansWithin([{ fromMs, toMs: knownFromMs, reason }, ...this.#recent.pauses], fromMs, toMs)
  }
}

/** Hints of this life that held within a window. */
function ownIn({ hints, ended }: HintsAnswer, fromMs: number, toMs: number): Hint[] {
  return [...hints, ...ended].filter((hint) => heldWithinMs(hint, { fromMs, toMs }) >= 0)
}

/** A hint as memory has it, where memory knows the window too: a statement may be a minute old. */
function renewed(hint: Hint, own: readonly Hint[], toMs: number): Hint {
  const newer = own.find(({ event, seenMs }) => event === hint.event && seenMs <= toMs)
  return newer ?? hint
}

function tooMany(fromMs: number, toMs: number): HintsUnknown {
  const reason = `The window holds more than ${STATEMENT_LIMIT} statements of hints; ask for a shorter one.`
  return { fromMs, toMs, reason }
}

/** Statements of a window and from when on they are complete; the newest are read first. */
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
