import { type Source, text, timestamp, value } from '@sonde/sdk'
import type { Hint } from '@sonde/sdk/api'
import { defineOwnType } from '@sonde/sdk/internal'

/**
 * The full state of a hint at a moment; marks contain only its edges. It is reported at each edge and every minute, so
 * that any window of time contains every hint that was open in it. Lists are JSON. A list longer than 4096 characters
 * loses its last elements.
 *
 * Rule and device are texts, because labels would make a series of each pair: windows are read whole, and one series is
 * read much faster.
 */
export const hintType = defineOwnType('sonde_hint', 'State of a hint at a moment of its life', {
  time: timestamp(),
  rule: text({ help: 'Rule that opened it' }),
  device: text({ help: 'Device of the hint' }),
  event: value('u64', { help: 'Number of the event, as in its marks' }),
  edge: text({ help: 'opened, confirmed, holds, ended or dismissed' }),
  stage: text({ help: 'forming, standing or lingering' }),
  severity: text({ help: 'critical, warning or notice' }),
  since_ms: value('f64', { unit: 'milliseconds', help: 'When it began' }),
  seen_ms: value('f64', { unit: 'milliseconds', help: 'When its rule last held' }),
  needed_ms: value('f64', { unit: 'milliseconds', help: 'How long the rule must hold to confirm the hint' }),
  measured_ms: value('f64', { unit: 'milliseconds', help: 'Time of title, sentence and numbers' }),
  value: value('f64', { help: 'Measured value' }),
  comparator: text({ help: 'Comparison of value and limit: >, >=, < or <=' }),
  limit: value('f64', { help: 'Limit that it passed' }),
  unit: text({ help: 'Unit of both' }),
  title: text({ help: 'Title' }),
  sentence: text({ help: 'Numbers against their limit and siblings' }),
  evidence: text({ help: 'Queries that show the finding, as JSON' }),
  affected: text({ help: 'Devices that show the effect, as JSON' }),
  lacks: text({ help: 'Absent signals that the rule could use, as JSON' }),
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
