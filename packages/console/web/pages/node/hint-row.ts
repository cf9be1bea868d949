import { type Hint, spanOfHint } from '@sonde/sdk/api'
import type { StateTone } from '../../components/state-mark.tsx'
import { hintFacts, hintState, outcomeState, type SpokenMoment } from '../../devices/hint-words.ts'
import { type MomentHints, unknownWords } from '../../devices/moment-hints.ts'
import { countText } from '../../format/number.ts'
import { formatAge, formatClock, formatDateTime, zoneName } from '../../format/time.ts'

/** A row of the table of hints, in words. */
export interface HintRowWords {
  readonly state: { readonly tone: StateTone; readonly word: string }
  readonly title: string
  readonly sentence: string
  readonly began: string
  readonly lasted: string
}

/** Most ended hints listed. Older hints are only counted. */
const ENDED_LIMIT_COUNT = 12
/** Most hints listed for a window. Less important hints are only counted. */
const WINDOW_LIMIT_COUNT = 24

/** The row of a hint: its state at the moment, and how long its condition held. */
export function hintRow(hint: Hint, moment: SpokenMoment): HintRowWords {
  const { sinceMs, title, outcome } = hint
  const atMs = moment.toMs ?? moment.nowMs
  const { toMs } = spanOfHint(hint, atMs)
  const isToday = formatDateTime(sinceMs, moment.zone).slice(0, 10) === formatDateTime(atMs, moment.zone).slice(0, 10)
  return {
    state: toMs !== undefined && outcome !== undefined ? outcomeState(hint) : hintState(hint),
    title,
    sentence: hintFacts(hint, moment),
    began: isToday ? formatClock(sinceMs, moment.zone) : formatDateTime(sinceMs, moment.zone),
    lasted: formatAge((toMs ?? atMs) - sinceMs),
  }
}

/**
 * The rows of the table and how many are left out: open hints, then ended hints, or the hints of a window in their
 * order.
 */
export function shownHints({ hints, ended, window }: MomentHints): {
  readonly shown: readonly Hint[]
  readonly more: number
} {
  if (window !== undefined) {
    const shown = hints.slice(0, WINDOW_LIMIT_COUNT)
    return { shown, more: hints.length - shown.length }
  }
  const latest = ended.toSorted((a, b) => (b.endedMs ?? 0) - (a.endedMs ?? 0)).slice(0, ENDED_LIMIT_COUNT)
  return { shown: [...hints, ...latest], more: ended.length - latest.length }
}

/** The text in place of an empty table, and the notes below the table about unknown results. */
export function hintNotes(seen: MomentHints, moment: SpokenMoment): { readonly empty: string; readonly notes: string } {
  const { more } = shownHints(seen)
  const isWindow = moment.toMs !== undefined
  const what = isWindow ? 'further hint' : 'earlier hint'
  const earlier = more > 0 ? `${countText(more, what)} not listed.` : ''
  const notes = [earlier, unknownWords(seen.unknown, moment.zone)].filter(Boolean).join(' ')
  return { empty: emptyWords(seen, isWindow, moment), notes }
}

function emptyWords({ unknown }: MomentHints, isWindow: boolean, { zone, tense }: SpokenMoment): string {
  const held = tense === 'past' ? 'Nothing held' : 'Nothing holds'
  if (unknown.length === 0)
    return isWindow ? 'Nothing held in this window.' : `${held}, and nothing did within the last hour.`
  if (isWindow) return 'Nothing is known to have held in this window.'
  const knownFromMs = Math.max(...unknown.map(({ toMs }) => toMs))
  return `${held}, and nothing did since ${formatClock(knownFromMs, zone)} ${zoneName(zone, knownFromMs)}.`
}
