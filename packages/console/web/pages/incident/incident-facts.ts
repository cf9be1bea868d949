import type { IncidentAnswer } from '@sonde/sdk/api'
import { createElement } from 'react'
import { Link } from 'wouter'
import type { DeviceInfo } from '../../api/devices.ts'
import type { Fact } from '../../components/facts.tsx'
import type { HeadlineText } from '../../components/headline.tsx'
import { devicePath } from '../../devices/device.ts'
import { placeWords } from '../../devices/hint-words.ts'
import { titleOf } from '../../format/names.ts'
import { countText, formatQuantity } from '../../format/number.ts'
import { BYTES_PER_SECOND } from '../../format/quantity.ts'
import { formatAge, formatClock, formatDateTime, type TimeZoneChoice, zoneName } from '../../format/time.ts'
import { incidentLasted, incidentPlace, incidentState } from '../incidents/incident-words.ts'

/** The sentence at the top: what it is, for how long, and the numbers when it opened and at its peak. */
export function incidentHead(
  { incident, opened, peak }: IncidentAnswer,
  nowMs: number,
  zone: TimeZoneChoice,
): HeadlineText {
  const { state, severity, title, sentence } = incident
  const isOpen = state === 'open'
  const lasted = incidentLasted(incident, nowMs)
  const moment = (word: string, one: typeof peak) =>
    one === undefined
      ? ''
      : `${word}, at ${formatClock(one.atMs, zone)} ${zoneName(zone, one.atMs)}: ${ended(one.sentence)}`
  const isSame = opened !== undefined && opened.sentence === peak?.sentence
  const numbers = isSame
    ? [moment('When it opened and at its worst', opened)]
    : [moment('When it opened', opened), moment('At its worst', peak)].filter(Boolean)
  return {
    tone: isOpen ? (severity === 'notice' ? 'info' : severity) : 'calm',
    sentence: isOpen ? `${title}, for ${lasted}.` : `${title}: it lasted ${lasted}.`,
    facts: numbers.length > 0 ? numbers.join(' ') : ended(sentence),
  }
}

function ended(sentence: string): string {
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`
}

/** The facts of an incident. Each time has its zone. */
export function incidentFacts(
  { incident, opened }: IncidentAnswer,
  devices: readonly DeviceInfo[],
  {
    nowMs,
    zone,
    hrefTo,
  }: {
    readonly nowMs: number
    readonly zone: TimeZoneChoice
    readonly hrefTo: (path: string) => string
  },
): readonly Fact[] {
  const { startMs, endMs, rule, affected, hints, moreHintCount = 0, acknowledged } = incident
  const effectCount = Math.max(0, hints.length - 1) + moreHintCount
  const [cause] = hints
  const device = devices.find(({ id }) => id === incident.device)
  const state = incidentState(incident)
  return [
    {
      label: `Began, ${zoneName(zone, startMs)}`,
      value: formatClock(startMs, zone),
      caption: formatDateTime(startMs, zone).slice(0, 10),
    },
    {
      label: endMs === undefined ? 'Lasts' : 'Lasted',
      value: incidentLasted(incident, nowMs),
      caption: endMs === undefined ? 'so far' : `ended ${formatClock(endMs, zone)}`,
    },
    {
      label: 'Where',
      value: incidentPlace(incident, devices),
      caption: device
        ? createElement(Link, { href: hrefTo(devicePath(device)) }, device.name)
        : placeWords(incident) === incident.device
          ? 'not on this node now'
          : '',
    },
    { label: 'Rule', value: titleOf(rule), caption: cause ? limitWords(cause) : '' },
    {
      label: 'Opened',
      value: opened ? formatClock(opened.atMs, zone) : '–',
      caption: opened ? `${formatAge(opened.atMs - startMs)} after it began` : 'not kept',
    },
    {
      label: 'Affected',
      value: affected.length === 0 ? 'none' : String(affected.length),
      caption: affected.length === 0 ? 'no other device' : countText(affected.length, 'other device'),
    },
    {
      label: 'Effects',
      value: effectCount > 0 ? String(effectCount) : 'none',
      caption: effectCount > 0 ? `${countText(effectCount, 'other hint')} of this cause` : 'no other hint',
    },
    {
      label: 'State',
      value: state.word,
      caption: acknowledged
        ? `seen by ${acknowledged.who || 'somebody'} ${formatClock(acknowledged.atMs, zone)}`
        : 'nobody acknowledged it',
      ...(state.tone === 'critical' || state.tone === 'warning' ? { tone: state.tone } : {}),
    },
  ]
}

const COMPARISONS = { '>': 'above', '>=': 'at least', '<': 'below', '<=': 'at most' } as const

function limitWords({ comparator, limit, unit }: NonNullable<IncidentAnswer['incident']['hints'][number]>): string {
  const words = unit === 'bytes/s' ? formatQuantity(BYTES_PER_SECOND, limit) : `${limit} ${unit}`
  return `holds ${COMPARISONS[comparator]} ${words}`.trim()
}
