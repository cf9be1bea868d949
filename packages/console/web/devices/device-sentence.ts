import type { DeviceInfo } from '../api/devices.ts'
import type { Hint } from '../api/hints.ts'
import type { HeadlineText } from '../components/headline.tsx'
import { formatAge, formatClock, formatDateTime, type TimeZoneChoice, zoneName } from '../format/time.ts'
import { asSentence } from '../format/words.ts'
import { deviceTitle } from './device.ts'
import { hintState } from './hint-words.ts'

/** The sentence of one device: what rules see on it, what it shows of another, or that it is in range. */
export function deviceSentence(
  device: DeviceInfo,
  hints: readonly Hint[] | undefined,
  now: { readonly nowMs: number; readonly zone: TimeZoneChoice },
): HeadlineText {
  const title = deviceTitle(device)
  const own = hints?.filter((hint) => hint.device === device.id) ?? []
  const worst = own[0]
  if (worst) {
    const more = own.length > 1 ? ` And ${own.length - 1} more.` : ''
    return {
      tone: hintState(worst).tone,
      sentence: `${worst.title}, for ${formatAge(now.nowMs - worst.sinceMs)}`,
      facts: [`${worst.sentence}.${more}`, goneWords(device, now.zone)].filter(Boolean).join(' '),
    }
  }
  if (device.state === 'gone') {
    const { goneMs } = device
    const since = goneMs === undefined ? '' : ` since ${formatDateTime(goneMs, now.zone)} ${zoneName(now.zone, goneMs)}`
    return {
      tone: 'warning',
      sentence: `${title} is gone${since}`,
      facts: `${device.goneReason ? `${asSentence(device.goneReason)} ` : ''}Its history is kept.`,
    }
  }
  const shown = hints?.find(({ affected }) => affected.includes(device.id))
  if (shown) {
    return {
      tone: 'calm',
      sentence: `${shown.title}; it shows on ${title} too`,
      facts: `No rule sees an origin on ${title}.`,
    }
  }
  return { tone: 'calm', sentence: hints ? `${title} is in range.` : `${title} is read.`, facts: '' }
}

/** Since when a device is gone, and why: `Gone 14:03:11. The GPU has fallen off the bus.` Empty while it is there. */
export function goneWords({ state, goneMs, goneReason = '' }: DeviceInfo, zone: TimeZoneChoice): string {
  if (state !== 'gone') return ''
  const since = goneMs === undefined ? 'Gone.' : `Gone ${formatClock(goneMs, zone)}.`
  return goneReason ? `${since} ${asSentence(goneReason)}` : since
}
