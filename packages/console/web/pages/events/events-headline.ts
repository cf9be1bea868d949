import type { EventsAnswer } from '@sonde/sdk/api'
import type { DeviceInfo } from '../../api/devices.ts'
import type { HeadlineText } from '../../components/headline.tsx'
import { countText } from '../../format/number.ts'
import { formatAge } from '../../format/time.ts'
import { be, type Tense } from '../../format/words.ts'
import { eventPlace } from './event-device.ts'
import { openFirst } from './event-words.ts'

/**
 * Headline of a past window: how many events are listed.
 *
 * @param hintCount Undefined if unknown.
 */
export function windowHeadline({ events, leftOut }: EventsAnswer, hintCount: number | undefined): HeadlineText {
  const seen = countOrNone(events.length + leftOut, 'event')
  const hinted = hintCount === undefined ? '' : ` and ${countOrNone(hintCount, 'hint').replace(/^N/, 'n')}`
  return { tone: 'calm', sentence: `${seen}${hinted}.`, facts: '' }
}

function countOrNone(count: number, noun: string): string {
  return count === 0 ? `No ${noun}` : countText(count, noun)
}

/** A sentence on the open events. */
export function eventsHeadline(
  { openCount, events, rules }: EventsAnswer,
  nowMs: number,
  tense: Tense,
  devices: readonly DeviceInfo[] = [],
): HeadlineText {
  const watching = `${countText(rules.length, 'rule')} ${tense === 'past' ? 'watched' : rules.length === 1 ? 'watches' : 'watch'}.`
  const open = openFirst(events).find(({ endMs }) => endMs === undefined)
  if (openCount === 0 || !open)
    return {
      tone: 'calm',
      sentence:
        openCount === 0
          ? `No event ${be(1, tense)} open.`
          : `${countText(openCount, 'event')} ${be(openCount, tense)} open.`,
      facts: watching,
    }
  const holds = `${open.rule}: open on ${eventPlace(open, devices)} for ${formatAge(nowMs - open.startMs)}.`
  return {
    tone: 'critical',
    sentence: openCount === 1 ? holds : `${countText(openCount, 'event')} ${be(openCount, tense)} open.`,
    facts:
      openCount === 1
        ? [open.condition && `${open.condition}.`, watching].filter(Boolean).join(' ')
        : `The latest: ${holds} ${watching}`,
  }
}
