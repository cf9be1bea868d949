import type { Incident } from '@sonde/sdk/api'
import type { DeviceInfo } from '../api/devices.ts'
import type { HeadlineText } from '../components/headline.tsx'
import { formatClock, formatDateTime, type TimeZoneChoice, zoneName } from '../format/time.ts'
import { asSentence, be } from '../format/words.ts'
import { deviceTitle, isGeneric } from './device.ts'
import { hintFacts, hintState, hintWords, holdsNow, type SpokenMoment, worstByDevice } from './hint-words.ts'
import { type MomentHints, unknownWords } from './moment-hints.ts'

/**
 * The sentence of a device: its hints, the hints of another device that show on it, missing samples, or that it is in
 * range.
 */
export function deviceSentence(
  device: DeviceInfo,
  { hints, isKnown, unknown }: MomentHints,
  now: SpokenMoment,
  {
    isSilent = false,
    affectedBy = [],
  }: { readonly isSilent?: boolean; readonly affectedBy?: readonly Incident[] } = {},
): HeadlineText {
  const { tense } = now
  const title = deviceTitle(device)
  const worst = worstByDevice(hints).get(device.id)
  const own = hints.filter((hint) => hint.device === device.id || hint === worst)
  if (worst) {
    const more = own.length > 1 ? ` And ${own.length - 1} more.` : ''
    return {
      tone: hintState(worst).tone,
      sentence: hintWords(worst, now),
      facts: [`${hintFacts(worst, now)}${more}`, goneWords(device, now.zone)].filter(Boolean).join(' '),
    }
  }
  if (device.state === 'gone') {
    const { goneMs } = device
    const since = goneMs === undefined ? '' : ` since ${formatDateTime(goneMs, now.zone)} ${zoneName(now.zone, goneMs)}`
    return {
      tone: 'warning',
      sentence: `${title} ${be(1, tense)} gone${since}`,
      facts: `${device.goneReason ? `${asSentence(device.goneReason)} ` : ''}Its history is kept.`,
    }
  }
  // A device stays affected for a while after its effect was seen last, so that the sentence does not come and go.
  const causes = new Set(affectedBy.flatMap((incident) => incident.hints.map(({ event }) => event)))
  const shown =
    hints.find(({ affected }) => affected.includes(device.id)) ?? hints.find(({ event }) => causes.has(event))
  if (shown) {
    return {
      tone: 'calm',
      sentence: holdsNow(shown, now)
        ? `${shown.title}; it shows on ${title} too`
        : `${hintWords(shown, now)}; it showed on ${title} too`,
      facts: `No rule ${tense === 'past' ? 'saw' : 'sees'} an origin on ${title}.`,
    }
  }
  if (isSilent && !isGeneric(device)) {
    const sentence = `${title} ${tense === 'past' ? 'gave' : 'gives'} no sample.`
    return { tone: 'info', sentence, facts: 'No rule sees anything of it.' }
  }
  // No rule watches a generic device.
  const state = isGeneric(device) ? `reported by ${device.source}` : isKnown ? 'in range' : 'read'
  const facts = isGeneric(device) ? '' : unknownWords(unknown, now.zone)
  return { tone: 'calm', sentence: `${title} ${be(1, tense)} ${state}.`, facts }
}

/** Since when and why a device is gone: `Gone 14:03:11. The GPU has fallen off the bus.` Empty while it is present. */
export function goneWords({ state, goneMs, goneReason = '' }: DeviceInfo, zone: TimeZoneChoice): string {
  if (state !== 'gone') return ''
  const since = goneMs === undefined ? 'Gone.' : `Gone ${formatClock(goneMs, zone)}.`
  return goneReason ? `${since} ${asSentence(goneReason)}` : since
}
