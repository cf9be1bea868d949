import type { IncidentAnswer, IncidentMoment, MovedAnswer, MovedSignal } from '@sonde/sdk/api'
import type { DeviceInfo } from '../../api/devices.ts'
import { formatDateTime } from '../../format/time.ts'
import { incidentLasted, incidentPlace, placeTitle } from '../incidents/incident-words.ts'
import { changeWords, valueWords } from './change-words.ts'
import type { MetricTitles } from './metric-titles.ts'

/** Signals that the text lists. */
const SIGNAL_COUNT = 10

/** An incident as Markdown, for a ticket or a chat. Times are in UTC. */
export function incidentMarkdown(
  { incident, opened, peak, notes, nowMs }: IncidentAnswer,
  devices: readonly DeviceInfo[],
  {
    moved,
    titleOf,
    address,
  }: { readonly moved: MovedAnswer | undefined; readonly titleOf: MetricTitles; readonly address: string },
): string {
  const { title, rule, startMs, endMs, affected, hints, isSimulated, node } = incident
  const lines = [
    `# ${marked(title)}${isSimulated ? ' (simulated)' : ''}`,
    '',
    `* Node: ${marked(node)}`,
    `* Where: ${marked(incidentPlace(incident, devices))}`,
    `* Began: ${formatDateTime(startMs, 'utc')} UTC`,
    endMs === undefined
      ? `* Open for ${incidentLasted(incident, nowMs)}`
      : `* Ended: ${formatDateTime(endMs, 'utc')} UTC, after ${incidentLasted(incident, nowMs)}`,
    `* Rule: ${code(rule)}`,
    ...momentLine('When it opened', opened),
    ...momentLine('At its worst', peak),
    ...(affected.length === 0
      ? []
      : [`* Affected: ${affected.map((id) => marked(placeTitle(id, devices))).join(', ')}`]),
    `* Page: ${address}`,
    ...section(
      'Of the same cause',
      hints.slice(1).map((hint) => `* ${marked(hint.title)}: ${marked(hint.sentence)}`),
    ),
    ...section(
      'What else moved',
      (moved?.signals ?? []).slice(0, SIGNAL_COUNT).map((one) => movedLine(one, titleOf)),
    ),
    ...section(
      'Notes',
      notes.map(
        ({ who, atMs, text }) => `* ${marked(who || 'somebody')}, ${formatDateTime(atMs, 'utc')} UTC: ${marked(text)}`,
      ),
    ),
  ]
  return `${lines.join('\n').replace(/[\u00a0\u202f]/g, ' ')}\n`
}

function movedLine(signal: MovedSignal, titleOf: MetricTitles): string {
  const { metric, before, after } = signal
  const { title, help } = titleOf(metric)
  const [from, to] = [valueWords(signal, before, help), valueWords(signal, after, help)]
  return `* ${marked(title)} (${code(metric)}): ${from} → ${to}, ${changeWords(signal, help)}`
}

function momentLine(what: string, moment: IncidentMoment | undefined): string[] {
  return moment === undefined
    ? []
    : [`* ${what}, ${formatDateTime(moment.atMs, 'utc')} UTC: ${marked(moment.sentence)}`]
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `## ${title}`, '', ...lines]
}

/** A name of a stranger as code, which it cannot end. */
function code(text: string): string {
  return `\`${text.replace(/[\s`]+/g, ' ').trim()}\``
}

/** Names may come from strangers: their characters are no Markdown, and they have one line. */
function marked(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_[\]<>#|]/g, '\\$&')
}
