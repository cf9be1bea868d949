import type { Hint, HintSeverity, Incident, IncidentNote, TracebackEvent } from '@sonde/sdk/api'
import { spanOfHint } from '@sonde/sdk/api'
import { isSimulatedHint } from './cause-keys.ts'
import { groupNumber } from './hint-groups.ts'

const RANKS: Readonly<Record<HintSeverity, number>> = { critical: 0, warning: 1, notice: 2 }

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
  return {
    ...{ id, node, kind: 'hint', state: isOpen ? 'open' : 'ended', severity, rule, device, title, sentence },
    startMs: Math.min(...hints.map(({ sinceMs }) => sinceMs)),
    ...(isOpen ? {} : { endMs: Math.max(...hints.map((hint) => spanOfHint(hint).toMs ?? hint.seenMs)) }),
    ...(isOpen || cause.outcome === undefined ? {} : { end: cause.outcome }),
    affected: [...affected],
    isSimulated: isSimulatedHint(cause),
    hints,
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
