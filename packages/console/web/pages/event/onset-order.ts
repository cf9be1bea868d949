import type { EventLane } from '@sonde/sdk/api'
import { countText, groupThousands } from '../../format/number.ts'
import { formatOffset } from './event-time.ts'
import { kindPlace, PLACE_WORDS } from './lane-groups.ts'
import { type Onset, onsetMiddleMs, uncertaintyOf } from './onset.ts'

/** A lane that changed, with its rank. */
export interface RankedOnset {
  readonly lane: EventLane
  readonly onset: Onset
  /** Best and worst possible rank, from 1. They are equal if the order is certain. */
  readonly rankFirst: number
  readonly rankLast: number
}

/** Ranks the changed lanes by time. If the spans of two changes overlap, their order is unknown. */
export function rankOnsets(
  onsets: readonly { readonly lane: EventLane; readonly onset: Onset }[],
): readonly RankedOnset[] {
  const sorted = onsets.toSorted((a, b) => onsetMiddleMs(a.onset) - onsetMiddleMs(b.onset))
  return sorted.map(({ lane, onset }) => ({
    lane,
    onset,
    rankFirst: 1 + sorted.filter((other) => other.onset.latestMs <= onset.earliestMs).length,
    rankLast: sorted.filter((other) => other.onset.earliestMs < onset.latestMs).length,
  }))
}

/** For each kind, the signal that certainly changed first, in order of time. */
function firstOfKinds(onsets: readonly RankedOnset[]): readonly RankedOnset[] {
  return [...Map.groupBy(onsets, ({ lane }) => kindPlace(lane)).values()]
    .map((own) => own.reduce((first, other) => (other.onset.latestMs < first.onset.latestMs ? other : first)))
    .toSorted((a, b) => onsetMiddleMs(a.onset) - onsetMiddleMs(b.onset))
}

/** Shown if samples exist and none left the usual range. */
export const NOTHING_CHANGED = 'No signal left its range before the event.'

/** Sentences about the first change. */
export interface OrderWords {
  readonly sentence: string
  readonly facts: string
}

/** Most signals named if their order is unknown. The others are counted. */
const RIVAL_LIMIT_COUNT = 3

/** Describes the order in which kinds changed, and where it is unknown. */
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
      facts: `${countText(laneCount, 'signal')}${kept}. A signal that swings widely before an event has to swing further to be told.`,
    }
  const firsts = firstOfKinds(onsets)
  const parts: string[] = []
  let untilMs = Number.NEGATIVE_INFINITY
  for (const { lane, onset } of firsts) {
    if (parts.length > 0) parts.push(onset.earliestMs >= untilMs ? ', then ' : ' or ')
    parts.push(`${nameOf(lane)} ${formatOffset(onsetMiddleMs(onset) - startMs, uncertaintyOf(onset))}`)
    untilMs = Math.max(untilMs, onset.latestMs)
  }
  const doubt = parts.includes(' or ') ? ' “Or”: within their uncertainty, so that their order is not known.' : ''
  return {
    sentence: headWords(onsets),
    facts: `${parts.join('')}. ${onsets.length} of ${countText(laneCount, 'signal')}${kept === ' kept' ? '' : ' shown'} changed; times are from the start of the event.${doubt}`,
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
  // Kinds that certainly changed before all others are an answer, even if their order is unknown.
  return kinds.length === 1 || isFollowed(candidates, onsets)
    ? `${kinds.join(' and ')} changed first; which signal is not known: ${all}.`
    : `Which changed first is not known: ${all}.`
}

/** Whether a signal certainly changed after all of the given signals. */
function isFollowed(some: readonly RankedOnset[], onsets: readonly RankedOnset[]): boolean {
  const latestMs = Math.max(...some.map(({ onset }) => onset.latestMs))
  return onsets.some(({ onset }) => onset.earliestMs >= latestMs)
}

function nameOf(lane: EventLane): string {
  return `${PLACE_WORDS[kindPlace(lane)]} ${lane.name}`
}
