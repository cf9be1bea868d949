import type { TroubleshootingHop } from '@sonde/sdk/api'
import type { HeadlineText } from '../../components/headline.tsx'
import type { StateTone } from '../../components/state-mark.tsx'
import { countText } from '../../format/number.ts'

/** Icon and word of each state of a hop. */
export const HOP_MARKS: Readonly<
  Record<TroubleshootingHop['state'], { readonly tone: StateTone; readonly word: string }>
> = {
  ok: { tone: 'ok', word: 'Works' },
  broken: { tone: 'warning', word: 'Broken' },
  unknown: { tone: 'absent', word: 'Not known' },
  off: { tone: 'absent', word: 'Off' },
}

/** The first hop that is broken decides: the others may be broken because of it. */
export function hopsHeadline(hops: readonly TroubleshootingHop[]): HeadlineText {
  const broken = hops.filter(({ state }) => state === 'broken')
  const unknown = hops.filter(({ state }) => state === 'unknown')
  const facts = unknown.length === 0 ? '' : `Not known from here: ${unknown.map(({ name }) => name).join(', ')}.`
  const [first] = broken
  if (first === undefined) return { tone: 'calm', sentence: 'No hop is broken.', facts }
  const others =
    broken.length > 1 ? `${countText(broken.length - 1, 'other hop is', 'other hops are')} broken too. ` : ''
  return { tone: 'warning', sentence: `Broken: ${first.name}.`, facts: `${others}${facts}`.trim() }
}
