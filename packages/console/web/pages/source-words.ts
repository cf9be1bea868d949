import type { SourceInfo, SourceStateName } from '../api/types.ts'
import type { StateTone } from '../components/state-mark.tsx'

const WORDS: Readonly<
  Record<SourceStateName, { readonly tone: StateTone; readonly word: string; readonly rank: number }>
> = {
  failed: { tone: 'critical', word: 'Failed', rank: 0 },
  stuck: { tone: 'critical', word: 'Stuck', rank: 1 },
  denied: { tone: 'denied', word: 'Denied', rank: 2 },
  starting: { tone: 'info', word: 'Starting', rank: 3 },
  reading: { tone: 'ok', word: 'Reading', rank: 4 },
  absent: { tone: 'absent', word: 'Absent', rank: 5 },
}

/** Icon and word of a source's state, and its place in a list where those that need attention come first. */
export function sourceState(state: SourceStateName): {
  readonly tone: StateTone
  readonly word: string
  readonly rank: number
} {
  // A newer agent may have states that this page does not know.
  return Object.hasOwn(WORDS, state) ? WORDS[state] : { tone: 'warning', word: state, rank: 2 }
}

/** Records that a source or sink dropped, of all reasons. */
export function droppedCount(source: Pick<SourceInfo, 'dropped'>): number {
  return Object.values(source.dropped).reduce((sum, count) => sum + count, 0)
}
