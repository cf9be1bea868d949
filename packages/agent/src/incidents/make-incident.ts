import type { Hint, HintSeverity, Incident, IncidentNote, TracebackEvent } from '@sonde/sdk/api'
import { spanOfHint } from '@sonde/sdk/api'
import { isSimulatedHint } from './cause-keys.ts'
import { groupNumber } from './hint-groups.ts'

const RANKS: Readonly<Record<HintSeverity, number>> = { critical: 0, warning: 1, notice: 2 }

/** Most hints in an answer about one incident: the cause, then the effects. Policy: the others are counted. */
const HINT_COUNT_MAX = 100
/** Most devices in an answer about one incident. Policy: the others are left out; their hints are counted. */
const AFFECTED_COUNT_MAX = 1024

/** Finds the note of who saw an incident first, by the id of the incident. */
export type AcknowledgedBy = (id: string) => IncidentNote | undefined

/** The incident of a group of hints, the cause of which is the first. */
export function hintIncident(node: string, hints: readonly Hint[], by: AcknowledgedBy): Incident {
  const [cause] = hints
  if (cause === undefined) throw new RangeError('a group has one hint at least')
  const { rule, device, title, sentence } = cause
  const id = `${node}:${groupNumber(hints)}`
  const sure = hints.filter(({ outcome }) => outcome !== 'dismissed')
  const weighed = sure.length === 0 ? hints : sure
  const severity = weighed.reduce((worst, one) => (RANKS[one.severity] < RANKS[worst.severity] ? one : worst)).severity
  const isOpen = hints.some(({ endedMs }) => endedMs === undefined)
  const affected = new Set(hints.flatMap((hint) => [...hint.affected, hint.device]))
  affected.delete(device)
  const startMs = hints.reduce((first, { sinceMs }) => Math.min(first, sinceMs), cause.sinceMs)
  return {
    ...{ id, node, kind: 'hint', state: isOpen ? 'open' : 'ended', severity, rule, device, title, sentence },
    startMs,
    ...(isOpen ? {} : { endMs: Math.max(startMs, lastEnd(hints)) }),
    ...(isOpen || cause.outcome === undefined ? {} : { end: cause.outcome }),
    affected: [...affected].slice(0, AFFECTED_COUNT_MAX),
    isSimulated: isSimulatedHint(cause),
    hints: hints.slice(0, HINT_COUNT_MAX),
    ...(hints.length > HINT_COUNT_MAX ? { moreHintCount: hints.length - HINT_COUNT_MAX } : {}),
    ...acknowledgedBy(id, by),
  }
}

/** The incident of an event of traceback. */
export function eventIncident(node: string, event: TracebackEvent, by: AcknowledgedBy): Incident {
  const { rule, device, condition, startMs, endMs, end, isSimulated } = event
  const id = `${node}:${event.first?.id ?? event.id}`
  return {
    ...{ id, node, kind: 'event', state: endMs === undefined ? 'open' : 'ended', severity: 'warning', rule, device },
    ...{ title: rule, sentence: condition, startMs, affected: [], isSimulated, hints: [], event },
    ...(endMs === undefined ? {} : { endMs }),
    ...(end === undefined ? {} : { end }),
    ...acknowledgedBy(id, by),
  }
}

function lastEnd(hints: readonly Hint[]): number {
  return hints.reduce((last, hint) => Math.max(last, spanOfHint(hint).toMs ?? hint.seenMs), Number.NEGATIVE_INFINITY)
}

function acknowledgedBy(id: string, by: AcknowledgedBy): Pick<Incident, 'acknowledged'> {
  const acknowledged = by(id)
  return acknowledged === undefined ? {} : { acknowledged }
}

/** Open incidents first, the latest of them first; then those that ended last. */
export function byListOrder(a: Incident, b: Incident): number {
  return (
    Number(b.state === 'open') - Number(a.state === 'open') ||
    (b.endMs ?? 0) - (a.endMs ?? 0) ||
    (a.state === 'open' ? b.startMs - a.startMs : 0) ||
    (a.id < b.id ? -1 : Number(a.id > b.id))
  )
}
