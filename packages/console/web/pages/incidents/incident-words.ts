import { type Incident, type IncidentsAnswer, spanOfIncident } from '@sonde/sdk/api'
import type { DeviceInfo } from '../../api/devices.ts'
import type { HeadlineText } from '../../components/headline.tsx'
import type { StateTone } from '../../components/state-mark.tsx'
import { deviceTitle } from '../../devices/device.ts'
import { hintState, outcomeState, placeWords } from '../../devices/hint-words.ts'
import { countText } from '../../format/number.ts'
import { formatAge } from '../../format/time.ts'
import { be, type Tense } from '../../format/words.ts'
import { eventPlace } from './event-device.ts'
import { endSentence, eventState } from './event-words.ts'

/** State of an incident: icon, word and colour belong together. */
export function incidentState(incident: Incident): { readonly tone: StateTone; readonly word: string } {
  const { event, hints, state, severity } = incident
  if (event) return eventState(event)
  const [cause] = hints
  if (state === 'ended') return cause ? outcomeState(cause) : { tone: 'ok', word: 'Ended' }
  const open = hints.find((hint) => hint.endedMs === undefined && hint.severity === severity) ?? cause
  return open ? hintState({ ...open, severity }) : { tone: 'warning', word: 'Open' }
}

/**
 * How bad an ended incident of hints was, because its state no longer says so; empty for a notice. Events of traceback
 * have no severity of their own.
 */
export function pastSeverity({ event, state, severity }: Pick<Incident, 'event' | 'state' | 'severity'>): string {
  if (event || state !== 'ended' || severity === 'notice') return ''
  return severity === 'critical' ? 'was critical' : 'was a warning'
}

/** Title of the device of an incident. */
export function incidentPlace(incident: Incident, devices: readonly DeviceInfo[]): string {
  return incident.event ? eventPlace(incident.event, devices) : placeTitle(incident.device, devices)
}

/** Title of the device of a hint, or the node in words. */
export function placeTitle(id: string, devices: readonly DeviceInfo[]): string {
  const device = devices.find((one) => one.id === id)
  return device ? deviceTitle(device) : placeWords({ device: id })
}

/** The sentences of an incident in a table: what was measured, why it ended, and its effects. */
export function incidentSentences({ sentence, event, hints }: Incident): string {
  const effects = hints.slice(1)
  return [
    sentence,
    event && event.end !== undefined && event.end !== 'cleared' ? endSentence(event) : '',
    effects.length > 0 ? `${countText(effects.length, 'further hint')} of the same cause.` : '',
  ]
    .filter(Boolean)
    .map((text) => (/[.!?]$/.test(text) ? text : `${text}.`))
    .join(' ')
}

/** How long an incident lasted or has lasted so far. */
export function incidentLasted(incident: Incident, nowMs: number): string {
  const { fromMs, toMs = nowMs } = spanOfIncident(incident)
  return formatAge(toMs - fromMs)
}

const RANKS = { critical: 0, warning: 1, notice: 2 } as const

/** Open incidents first, the worst of them first; then the order of the server. */
export function worstFirst(incidents: readonly Incident[]): readonly Incident[] {
  const rank = ({ state, severity }: Incident) => (state === 'open' ? RANKS[severity] : 3)
  return incidents.toSorted((a, b) => rank(a) - rank(b))
}

/** The sentence at the top of the list. */
export function incidentsHeadline(
  { openCount, incidents, rules, traceback }: IncidentsAnswer,
  nowMs: number,
  tense: Tense,
  devices: readonly DeviceInfo[] = [],
): HeadlineText {
  const watching = [countText(rules, 'rule of hints', 'rules of hints'), tracebackWords(traceback.watching.length)]
  const facts = `${watching.filter(Boolean).join(' and ')} ${tense === 'past' ? 'watched' : 'watch'}.`
  const [worst] = worstFirst(incidents.filter(({ state }) => state === 'open'))
  if (openCount === 0) return { tone: 'calm', sentence: `No incident ${be(1, tense)} open.`, facts }
  const count = `${countText(openCount, 'incident')} ${be(openCount, tense)} open.`
  if (worst === undefined) return { tone: 'calm', sentence: count, facts }
  const tone = worst.severity === 'notice' ? 'info' : worst.severity
  const what = worst.event ? `${worst.title} on ${incidentPlace(worst, devices)}` : worst.title
  const first = `${what}, for ${incidentLasted(worst, nowMs)}.`
  return openCount === 1
    ? { tone, sentence: first, facts: [incidentSentences(worst), facts].filter(Boolean).join(' ') }
    : { tone, sentence: count, facts: `The worst: ${first} ${facts}` }
}

/** Headline of a past window: how many incidents of it match. */
export function windowHeadline({ incidents, next, unknown }: IncidentsAnswer): HeadlineText {
  const none = unknown.length > 0 ? 'No incident is known.' : 'No incident.'
  const some = `${next === undefined ? '' : 'More than '}${countText(incidents.length, 'incident')}.`
  return { tone: 'calm', sentence: incidents.length === 0 ? none : some, facts: '' }
}

function tracebackWords(count: number): string {
  return count === 0 ? '' : countText(count, 'rule of traceback', 'rules of traceback')
}
