import { type Batch, type RecordOf, readRecords, viewsOf } from '@sonde/sdk'
import {
  type Hint,
  type HintComparator,
  type HintEvidence,
  type HintSeverity,
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

/** A window of hints, and facts in addition to the statements. Times in milliseconds since the Unix epoch. */
export interface WantedHints {
  readonly fromMs: number
  readonly toMs: number
  /** End of the statements that were read. A hint without a later statement was cut off. */
  readonly readToMs: number
  /** Events that are open in memory. */
  readonly open: ReadonlySet<string>
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

function eventHint(event: string, all: readonly Statement[], { fromMs, toMs, readToMs, open }: WantedHints) {
  // A statement describes the last time that the rule held, so a later statement may still belong to the window.
  const said = all.findLast((statement) => statement.seen_ms <= toMs)
  const last = all.at(-1)
  if (said === undefined || last === undefined) return undefined
  const end = hintEnd(last, open.has(event) ? Number.POSITIVE_INFINITY : readToMs)
  const hint: Hint = { ...hintIn(event, said), ...end }
  return isInWindow(spanOfHint(hint), { fromMs, toMs }) ? hint : undefined
}

/** How a hint ended, from its last statement; undefined while it may go on. */
export function hintEnd(last: Statement, readToMs: number): Pick<Hint, 'endedMs' | 'outcome'> | undefined {
  const endedMs = last.seen_ms
  if (last.edge === 'ended' || last.edge === 'dismissed') return { endedMs, outcome: last.edge }
  const isOpen = readToMs === Number.POSITIVE_INFINITY || readToMs - msOf(last.time) < UNSTATED_MS
  return isOpen ? undefined : { endedMs, outcome: 'cut' }
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
