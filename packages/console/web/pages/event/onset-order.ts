import type { EventLane } from '@sonde/sdk/api'
import { countOf, groupThousands } from '../../format/number.ts'
import { formatOffset } from './event-time.ts'
import { kindPlace, PLACE_WORDS } from './lane-groups.ts'
import { middleOf, type Onset, uncertaintyOf } from './onset.ts'

/** A lane that changed, and its place among the others. */
export interface RankedOnset {
  readonly lane: EventLane
  readonly onset: Onset
  /**
   * From 1: its place if all that may have been before it was not, and if all of that was. The same where it is known.
   */
  readonly rankFirst: number
  readonly rankLast: number
}

/** Lanes that changed, the first first. Where the stretches of two overlap, which was first is not known. */
export function rankOnsets(
  onsets: readonly { readonly lane: EventLane; readonly onset: Onset }[],
): readonly RankedOnset[] {
  const sorted = onsets.toSorted((a, b) => middleOf(a.onset) - middleOf(b.onset))
  return sorted.map(({ lane, onset }) => ({
    lane,
    onset,
    rankFirst: 1 + sorted.filter((other) => other.onset.latestMs <= onset.earliestMs).length,
    rankLast: sorted.filter((other) => other.onset.earliestMs < onset.latestMs).length,
  }))
}

/** The signal of each kind of thing that surely changed first among those of its kind, in their order. */
function firstOfKinds(onsets: readonly RankedOnset[]): readonly RankedOnset[] {
  return [...Map.groupBy(onsets, ({ lane }) => kindPlace(lane)).values()]
    .map((own) => own.reduce((first, other) => (other.onset.latestMs < first.onset.latestMs ? other : first)))
    .toSorted((a, b) => middleOf(a.onset) - middleOf(b.onset))
}

/** Said where samples are there, and none of them left what was usual. */
export const NOTHING_CHANGED = 'No signal left what it was before the event.'

/** What changed first, in words. */
export interface OrderWords {
  readonly sentence: string
  readonly facts: string
}

/** Signals that are named where it is not known which of them was first; the others are counted. */
const RIVAL_LIMIT_COUNT = 3

/** Says in which order kinds of things changed, and where that cannot be known. */
export function orderWords(
  onsets: readonly RankedOnset[],
  laneCount: number,
  startMs: number,
  keptCount = laneCount,
): OrderWords {
  const kept = keptCount > laneCount ? ` shown; ${groupThousands(String(keptCount))} are kept` : ' kept'
  if (onsets.length === 0)
    return {
      sentence: NOTHING_CHANGED,
      facts: `${countOf(laneCount, 'signal')}${kept}. A signal that swings widely before an event has to swing further to be told.`,
    }
  const firsts = firstOfKinds(onsets)
  const parts: string[] = []
  let untilMs = Number.NEGATIVE_INFINITY
  for (const { lane, onset } of firsts) {
    if (parts.length > 0) parts.push(onset.earliestMs >= untilMs ? ', then ' : ' or ')
    parts.push(`${nameOf(lane)} ${formatOffset(middleOf(onset) - startMs, uncertaintyOf(onset))}`)
    untilMs = Math.max(untilMs, onset.latestMs)
  }
  const doubt = parts.includes(' or ') ? ' “Or”: within their uncertainty, so that their order is not known.' : ''
  return {
    sentence: headWords(onsets),
    facts: `${parts.join('')}. ${onsets.length} of ${countOf(laneCount, 'signal')}${kept === ' kept' ? '' : ' shown'} changed; times are from the start of the event.${doubt}`,
  }
}

function headWords(onsets: readonly RankedOnset[]): string {
  const first = onsets.reduce((a, b) => (b.onset.latestMs < a.onset.latestMs ? b : a))
  const rivals = onsets.filter((other) => other !== first && other.onset.earliestMs < first.onset.latestMs)
  const place = PLACE_WORDS[kindPlace(first.lane)]
  if (rivals.length === 0) return `${place} changed first: ${first.lane.name}.`
  const candidates = onsets.filter((one) => one === first || rivals.includes(one))
  const kinds = [...new Set(candidates.map(({ lane }) => PLACE_WORDS[kindPlace(lane)]))]
  const named = candidates
    .slice(0, RIVAL_LIMIT_COUNT)
    .map(({ lane }) => (kinds.length === 1 ? lane.name : nameOf(lane)))
  const more = candidates.length - named.length
  const all = `${named.join(', or ')}${more > 0 ? `, or ${more} more` : ''}`
  // Kinds that others surely follow are an answer, also where their own order is not known.
  return kinds.length === 1 || isFollowed(candidates, onsets)
    ? `${kinds.join(' and ')} changed first; which signal is not known: ${all}.`
    : `Which changed first is not known: ${all}.`
}

/** Whether a signal surely changed after all of some. */
function isFollowed(some: readonly RankedOnset[], onsets: readonly RankedOnset[]): boolean {
  const latestMs = Math.max(...some.map(({ onset }) => onset.latestMs))
  return onsets.some(({ onset }) => onset.earliestMs >= latestMs)
}

function nameOf(lane: EventLane): string {
  return `${PLACE_WORDS[kindPlace(lane)]} ${lane.name}`
}
