import type { DeviceInfo } from '../api/devices.ts'
import type { Hint } from '../api/hints.ts'
import type { HeadlineText } from '../components/headline.tsx'
import { formatClock, formatDateTime, type TimeZoneChoice, zoneName } from '../format/time.ts'
import { asSentence, be, type Tense } from '../format/words.ts'
import { deviceTitle, isGeneric } from './device.ts'
import { hintState, hintWords } from './hint-words.ts'

/** The sentence of one device: what rules see on it, what it shows of another, or that it is in range. */
export function deviceSentence(
  device: DeviceInfo,
  hints: readonly Hint[] | undefined,
  now: { readonly nowMs: number; readonly zone: TimeZoneChoice; readonly tense: Tense },
): HeadlineText {
  const { tense } = now
  const title = deviceTitle(device)
  const own = hints?.filter((hint) => hint.device === device.id) ?? []
  const worst = own[0]
  if (worst) {
    const more = own.length > 1 ? ` And ${own.length - 1} more.` : ''
    return {
      tone: hintState(worst).tone,
      sentence: hintWords(worst, now.nowMs, tense),
      facts: [`${worst.sentence}.${more}`, goneWords(device, now.zone)].filter(Boolean).join(' '),
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
  const shown = hints?.find(({ affected }) => affected.includes(device.id))
  if (shown) {
    return {
      tone: 'calm',
      sentence:
        tense === 'past'
          ? `Last known: ${shown.title}; it showed on ${title} too`
          : `${shown.title}; it shows on ${title} too`,
      facts: `No rule ${tense === 'past' ? 'saw' : 'sees'} an origin on ${title}.`,
    }
  }
  // No rule watches what has no code.
  const state = isGeneric(device) ? `reported by ${device.source}` : hints ? 'in range' : 'read'
  return { tone: 'calm', sentence: `${title} ${be(1, tense)} ${state}.`, facts: '' }
}

/** Since when a device is gone, and why: `Gone 14:03:11. The GPU has fallen off the bus.` Empty while it is there. */
export function goneWords({ state, goneMs, goneReason = '' }: DeviceInfo, zone: TimeZoneChoice): string {
  if (state !== 'gone') return ''
  const since = goneMs === undefined ? 'Gone.' : `Gone ${formatClock(goneMs, zone)}.`
  return goneReason ? `${since} ${asSentence(goneReason)}` : since
}
