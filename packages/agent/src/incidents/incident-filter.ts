import type { HintSeverity, Incident, IncidentKind } from '@sonde/sdk/api'

/** Conditions for a list of incidents. An absent condition matches all. Times in milliseconds since the Unix epoch. */
export interface IncidentFilter {
  /** The window; default: from the first incident until now. */
  readonly fromMs?: number
  readonly toMs?: number
  /** Device of the cause, of an effect, or an affected device. */
  readonly device?: string
  readonly rule?: string
  readonly severity?: HintSeverity
  readonly kind?: IncidentKind
  readonly state?: Incident['state']
  /** Words that the title, the sentences, the rules or the devices contain. */
  readonly find?: string
  readonly limit: number
  /** The cursor of an earlier answer. */
  readonly cursor?: string
}

/** Whether an incident matches, whatever the window. */
export function matchesIncident(incident: Incident, wanted: IncidentFilter): boolean {
  const { device, rule, severity, kind, state, find } = wanted
  if (severity !== undefined && incident.severity !== severity) return false
  if (kind !== undefined && incident.kind !== kind) return false
  if (state !== undefined && incident.state !== state) return false
  if (rule !== undefined && incident.rule !== rule && incident.hints.every((hint) => hint.rule !== rule)) return false
  if (device !== undefined && incident.device !== device && !incident.affected.includes(device)) return false
  return find === undefined || hasWords(incident, find)
}

function hasWords({ title, sentence, rule, device, hints, event }: Incident, find: string): boolean {
  const effects = hints.flatMap((hint) => [hint.title, hint.sentence, hint.rule, hint.device])
  const text = [title, sentence, rule, device, event?.source, ...effects].join(' ').toLowerCase()
  // Sentences have spaces that never break, which nobody types.
  const plain = text.replace(/[\u00a0\u202f]/g, ' ')
  return find
    .toLowerCase()
    .split(/\s+/)
    .every((word) => plain.includes(word))
}
