import type { TracebackEvent } from '@sonde/sdk/api'
import { createElement } from 'react'
import { Link } from 'wouter'
import type { Fact } from '../../components/facts.tsx'
import { countText, formatQuantity, groupThousands } from '../../format/number.ts'
import { BYTES } from '../../format/quantity.ts'
import { formatDateTime, formatDuration, type TimeZoneChoice, zoneName } from '../../format/time.ts'
import { endSentence, eventState, lastedWords, windowWords } from '../incidents/event-words.ts'
import { formatMoment } from './event-time.ts'

/** The facts of an event. Each time has its zone and its error. */
export function eventFacts(
  event: TracebackEvent,
  place: { readonly title: string; readonly href: string | undefined; readonly note: string },
  told: {
    readonly nowMs: number
    readonly zone: TimeZoneChoice
    readonly signalCount: number
    readonly gapCount: number
  },
): readonly Fact[] {
  const { startMs, errorMs, endMs, samples, leftOut, sizeBytes } = event
  const { zone } = told
  const state = eventState(event)
  const kept = windowWords(event)
  return [
    {
      label: `Began, ${zoneName(zone, startMs)}`,
      value: formatMoment(startMs, zone, errorMs),
      caption: [formatDateTime(startMs, zone).slice(0, 10), errorMs > 0 && `± ${formatDuration(errorMs)}`]
        .filter(Boolean)
        .join(' · '),
    },
    {
      label: endMs === undefined ? 'Lasts' : 'Lasted',
      value: lastedWords(event, told.nowMs),
      caption: endMs === undefined ? 'so far' : `ended ${formatMoment(endMs, zone, errorMs)}`,
    },
    {
      label: 'Where',
      value: place.title,
      caption: place.href ? createElement(Link, { href: place.href }, place.note || 'its page') : place.note,
    },
    { label: 'Rule', value: event.rule, caption: event.condition },
    {
      label: 'State',
      value: state.word,
      caption: endSentence(event),
      ...(state.tone === 'critical' || state.tone === 'warning' ? { tone: state.tone } : {}),
    },
    {
      label: endMs === undefined ? 'Kept so far' : 'Kept',
      value: kept,
      caption: `${countText(told.signalCount, 'signal')} · ${countText(samples, 'sample')} · ${formatQuantity(BYTES, sizeBytes)}`,
    },
    {
      label: 'Left out',
      value: groupThousands(String(leftOut)),
      unit: leftOut === 1 ? 'sample' : 'samples',
      caption: leftOut === 0 ? 'nothing' : `${countText(told.gapCount, 'gap')}; by limits, gaps or a full disk`,
    },
  ]
}
