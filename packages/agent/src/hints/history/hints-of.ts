import { type Batch, type RecordOf, readRecords, viewsOf } from '@sonde/sdk'
import { type Hint, type HintComparator, type HintEvidence, type HintSeverity, heldWithinMs } from '@sonde/sdk/api'
import { hintType } from './hint-type.ts'

/** How often a hint that is open is stated. Unit: milliseconds. */
export const STATED_EVERY_MS = 60_000
/** A hint that was not stated for so long is open no more: Sonde stopped. Unit: milliseconds. */
export const UNSTATED_MS = 2.5 * STATED_EVERY_MS

/** What a hint said at a time, as it was reported. */
export type Statement = RecordOf<typeof hintType>

/** Which hints are wanted, and what is known beside the statements. Times in milliseconds since the Unix epoch. */
export interface WantedHints {
  readonly fromMs: number
  readonly toMs: number
  /** Up to where statements were read: without one since, a hint was cut off. */
  readonly readToMs: number
  /** Events that are open now, in memory. */
  readonly open: ReadonlySet<string>
}

/** The statements in batches of a store; those of another fingerprint are of a Sonde that stated other things. */
export function* statementsIn(batches: readonly Batch[]): Generator<Statement> {
  for (const { type, bytes, count, symbols } of batches) {
    if (type.fingerprint === hintType.fingerprint) yield* readRecords(hintType, viewsOf(bytes), count, symbols)
  }
}

/** The hints of a window, each as it was at the window's end, and with its own end where that is known. */
export function hintsOf(statements: Iterable<Statement>, wanted: WantedHints): Hint[] {
  return [...Map.groupBy(statements, ({ event }) => String(event))].flatMap(([event, all]) => {
    all.sort((a, b) => msOf(a.time) - msOf(b.time))
    return hintOf(event, all, wanted) ?? []
  })
}

function hintOf(event: string, all: readonly Statement[], { fromMs, toMs, readToMs, open }: WantedHints) {
  // What it says is of when its rule held last: a statement that came later may still be about the window.
  const said = all.findLast((statement) => statement.seen_ms <= toMs)
  const last = all.at(-1)
  if (said === undefined || last === undefined) return undefined
  const end = endOf(last, open.has(event) ? Number.POSITIVE_INFINITY : readToMs)
  const hint: Hint = { ...hintIn(event, said), ...end }
  return heldWithinMs(hint, { fromMs, toMs }) >= 0 ? hint : undefined
}

function endOf(last: Statement, readToMs: number): Pick<Hint, 'endedMs' | 'outcome'> | undefined {
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
