import { type Batch, type RecordOf, readRecords, viewsOf } from '@sonde/sdk'
import {
  type Hint,
  type HintComparator,
  type HintEvidence,
  type HintSeverity,
  type HintsUnknown,
  isInWindow,
  spanOfHint,
} from '@sonde/sdk/api'
import { hintType } from './hint-type.ts'

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

/**
 * The statements in batches of a store. Batches with another fingerprint come from another version of Sonde and are
 * skipped.
 */
export function* statementsIn(batches: readonly Batch[]): Generator<Statement> {
  for (const { type, bytes, count, symbols } of batches) {
    if (type.fingerprint === hintType.fingerprint) yield* readRecords(hintType, viewsOf(bytes), count, symbols)
  }
}

/** The hints of a window in their state at its end, each with its end if known. */
export function windowHints(statements: Iterable<Statement>, wanted: WantedHints): Hint[] {
  return [...Map.groupBy(statements, ({ event }) => String(event))].flatMap(([event, all]) => {
    all.sort((a, b) => msOf(a.time) - msOf(b.time))
    return eventHint(event, all, wanted) ?? []
  })
}

function eventHint(event: string, all: readonly Statement[], { fromMs, toMs }: WantedHints) {
  // A statement describes the last time that the rule held, so a later statement may still belong to the window.
  const said = all.findLast((statement) => statement.seen_ms <= toMs)
  const last = all.at(-1)
  if (said === undefined || last === undefined) return undefined
  const hint: Hint = { ...hintIn(event, said), ...hintEnd(last) }
  return isInWindow(spanOfHint(hint), { fromMs, toMs }) ? hint : undefined
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
    stage: said.stage as Hint['stage'],
    sinceMs: said.since_ms,
    seenMs: said.seen_ms,
    measuredMs: said.measured_ms,
    comparator: said.comparator as HintComparator,
    neededMs: said.needed_ms,
    evidence: JSON.parse(said.evidence) as HintEvidence[],
    affected: JSON.parse(said.affected) as string[],
    lacks: JSON.parse(said.lacks) as string[],
  }
}

function msOf(timeNs: bigint | number): number {
  return Number(BigInt(timeNs) / 1_000_000n)
}
