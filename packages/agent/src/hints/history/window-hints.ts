import { type Batch, type RecordOf, type RecordType, readRecords, viewsOf } from '@sonde/sdk'
import {
  type Hint,
  type HintComparator,
  type HintEvidence,
  type HintSeverity,
  type HintsUnknown,
  isInWindow,
  spanOfHint,
} from '@sonde/sdk/api'
import { turn } from '@sonde/sdk/internal'
import type { hintType } from './hint-type.ts'

/** How often an open hint is stated. Unit: milliseconds. */
export const STATED_EVERY_MS = 60_000
/** An open hint without a statement for this long was cut off, because Sonde stopped. Unit: milliseconds. */
export const UNSTATED_MS = 2.5 * STATED_EVERY_MS

/** The reported state of a hint at a time. */
export type Statement = RecordOf<typeof hintType>

/** A window of hints. Times in milliseconds since the Unix epoch. */
export interface WantedHints {
  readonly fromMs: number
  readonly toMs: number
}

/** The values of the words of a statement that this version knows. */
const WORDS = {
  edge: ['opened', 'confirmed', 'holds', 'ended', 'dismissed'],
  stage: ['forming', 'standing', 'lingering'],
  severity: ['critical', 'warning', 'notice'],
  comparator: ['>', '>=', '<', '<='],
} as const
const TEXTS = ['rule', 'device', 'title', 'sentence', 'unit', 'evidence', 'affected', 'lacks'] as const
const NUMBERS = ['since_ms', 'seen_ms', 'needed_ms', 'measured_ms', 'value', 'limit'] as const
const EVENT = /^[1-9]\d{0,19}$/

/** Statements of a store, and the number of those that are not readable. */
export interface ReadStatements {
  readonly statements: readonly Statement[]
  readonly unreadable: number
}

/**
 * The statements in batches of a store. Another version of Sonde may have written them with another type: its
 * statements count if they have all fields of this version. A statement that is not readable hides no other statement.
 * Yields to the loop.
 */
export async function statementsIn(batches: readonly Batch[]): Promise<ReadStatements> {
  const statements: Statement[] = []
  let unreadable = 0
  for (const { type, bytes, count, symbols } of batches) {
    for (const record of readRecords<RecordType>(type, viewsOf(bytes), count, symbols)) {
      if (isStatement(record)) statements.push(record)
      else unreadable++
      if (turn.isOver()) await turn.next()
    }
  }
  return { statements, unreadable }
}

function isStatement(record: object): record is Statement {
  const has = record as Readonly<Record<string, unknown>>
  return (
    ['bigint', 'number'].includes(typeof has.time) &&
    EVENT.test(String(has.event)) &&
    TEXTS.every((name) => typeof has[name] === 'string') &&
    NUMBERS.every((name) => Number.isFinite(has[name])) &&
    Object.entries(WORDS).every(([name, words]) => (words as readonly unknown[]).includes(has[name]))
  )
}

/** The hints of a window in their state at its end, each with its end if known. Yields to the loop. */
export async function windowHints(statements: Iterable<Statement>, wanted: WantedHints): Promise<Hint[]> {
  const hints: Hint[] = []
  for (const [event, all] of Map.groupBy(statements, ({ event }) => String(event))) {
    all.sort((a, b) => msOf(a.time) - msOf(b.time))
    const hint = eventHint(event, all, wanted)
    if (hint !== undefined) hints.push(hint)
    if (turn.isOver()) await turn.next()
  }
  return hints
}

function eventHint(event: string, all: readonly Statement[], { fromMs, toMs }: WantedHints) {
  // After a step back of the clock, a hint ends earlier than it was last stated.
  const last = all.find((statement) => hintEnd(statement) !== undefined) ?? all.at(-1)
  // A statement describes the last time that the rule held, so a later statement may still belong to the window.
  const said = last !== undefined && last.seen_ms <= toMs ? last : all.findLast(({ seen_ms }) => seen_ms <= toMs)
  if (said === undefined || last === undefined) return undefined
  const end = hintEnd(last)
  const sinceMs = Math.min(said.since_ms, said.seen_ms, last.since_ms, end?.endedMs ?? Number.POSITIVE_INFINITY)
  const span = spanOfHint({ sinceMs, seenMs: said.seen_ms, stage: stageOf(said), ...end } as Hint)
  return isInWindow(span, { fromMs, toMs }) ? { ...hintIn(event, said), sinceMs, ...end } : undefined
}

/** How a hint ended, from its last statement; undefined if that states no end: it goes on, or was cut off. */
export function hintEnd(last: Statement): Pick<Hint, 'endedMs' | 'outcome'> | undefined {
  return last.edge === 'ended' || last.edge === 'dismissed' ? { endedMs: last.seen_ms, outcome: last.edge } : undefined
}

/** When each hint was last seen to hold. */
export function lastSeenIn(statements: Iterable<Statement>): Map<string, number> {
  const seen = new Map<string, number>()
  for (const { event, seen_ms } of statements) seen.set(String(event), Math.max(seen_ms, seen.get(String(event)) ?? 0))
  return seen
}

/**
 * Ends a hint that was cut off: it held until its process stood still or ended. If neither happened soon after it was
 * last seen, its end is not kept, and it held until then.
 */
export function cutHint(hint: Hint, lastSeenMs: number, unwatched: readonly HintsUnknown[]): Hint {
  const next = unwatched.find(({ fromMs, toMs }) => toMs > fromMs && fromMs >= lastSeenMs)
  const isSoon = next !== undefined && next.fromMs - lastSeenMs <= UNSTATED_MS
  return { ...hint, endedMs: isSoon ? next.fromMs : lastSeenMs, outcome: 'cut' }
}

function hintIn(event: string, said: Statement): Hint {
  const { rule, device, value, limit, unit, title, sentence } = said
  return {
    ...{ id: `${rule}/${device}`, event, rule, device, value, limit, unit, title, sentence },
    severity: said.severity as HintSeverity,
    stage: stageOf(said),
    sinceMs: said.since_ms,
    seenMs: said.seen_ms,
    measuredMs: said.measured_ms,
    comparator: said.comparator as HintComparator,
    neededMs: said.needed_ms,
    evidence: listIn<HintEvidence>(said.evidence, (one) => typeof (one as Partial<HintEvidence>)?.metric === 'string'),
    affected: listIn<string>(said.affected, isText),
    lacks: listIn<string>(said.lacks, isText),
  }
}

function stageOf({ stage }: Statement): Hint['stage'] {
  return stage as Hint['stage']
}

/** The elements of a list of a statement that are valid. The hint is shown even if the list is damaged. */
function listIn<T>(json: string, isValid: (one: unknown) => boolean): T[] {
  try {
    const list: unknown = JSON.parse(json)
    return Array.isArray(list) ? (list.filter(isValid) as T[]) : []
  } catch {
    return []
  }
}

function isText(one: unknown): boolean {
  return typeof one === 'string'
}

function msOf(timeNs: bigint | number): number {
  return Number(BigInt(timeNs) / 1_000_000n)
}
