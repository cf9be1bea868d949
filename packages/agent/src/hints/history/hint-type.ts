import { label, type Source, text, timestamp, value } from '@sonde/sdk'
import type { Hint } from '@sonde/sdk/api'
import { defineOwnType } from '@sonde/sdk/internal'

/**
 * The full state of a hint at a moment; marks contain only its edges. It is reported at each edge and every minute, so
 * that any window of time contains every hint that was open in it. Lists are JSON. A list longer than 4096 characters
 * loses its last elements.
 */
export const hintType = defineOwnType('sonde_hint', 'What a hint said at a moment of its life', {
  time: timestamp(),
  rule: label('Rule that opened it'),
  device: label('Device that it is about'),
  event: value('u64', { help: 'Number of the event, as its marks have it' }),
  edge: text({ help: 'opened, confirmed, holds, ended or dismissed' }),
  stage: text({ help: 'forming, standing or lingering' }),
  severity: text({ help: 'critical, warning or notice' }),
  since_ms: value('f64', { unit: 'milliseconds', help: 'When it began' }),
  seen_ms: value('f64', { unit: 'milliseconds', help: 'When its rule held last' }),
  needed_ms: value('f64', { unit: 'milliseconds', help: 'How long it must hold before it stands' }),
  measured_ms: value('f64', { unit: 'milliseconds', help: 'When title, sentence and numbers were so' }),
  value: value('f64', { help: 'What the rule measured' }),
  comparator: text({ help: 'How the value stands to the limit: >, >=, < or <=' }),
  limit: value('f64', { help: 'Limit that it passed' }),
  unit: text({ help: 'Unit of both' }),
  title: text({ help: 'What it is, in a few words' }),
  sentence: text({ help: 'Numbers against their limit and siblings' }),
  evidence: text({ help: 'Queries that show it, as JSON' }),
  affected: text({ help: 'Devices that show the effect, as JSON' }),
  lacks: text({ help: 'Signals that the rule would have used, as JSON' }),
})

/** A moment at which the state of a hint is reported. */
export type StatedEdge = 'opened' | 'confirmed' | 'holds' | 'ended' | 'dismissed'

/** Longest text of a record. Unit: characters. */
const TEXT_LENGTH_LIMIT = 4096

/** Reports the state of a hint at a time. Unit of the time: milliseconds since the Unix epoch. */
export function reportHint(source: Source, hint: Hint, edge: StatedEdge, timeMs: number): void {
  const { rule, device, stage, severity, value, comparator, limit, unit, title, sentence } = hint
  source.report(hintType, {
    time: BigInt(Math.round(timeMs)) * 1_000_000n,
    event: BigInt(hint.event),
    ...{ rule, device, edge, stage, severity, value, comparator, limit, unit, title, sentence },
    since_ms: hint.sinceMs,
    seen_ms: hint.seenMs,
    needed_ms: hint.neededMs,
    measured_ms: hint.measuredMs,
    evidence: listText(hint.evidence),
    affected: listText(hint.affected),
    lacks: listText(hint.lacks),
  })
}

/** A list as JSON, with as many of its first elements as fit. */
function listText(list: readonly unknown[]): string {
  for (let count = list.length; count > 0; count--) {
    const json = JSON.stringify(list.slice(0, count))
    if (json.length <= TEXT_LENGTH_LIMIT) return json
  }
  return '[]'
}
