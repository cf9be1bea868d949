import type { ListedSource, SourceState } from '@sonde/sdk/api'
import type { StateTone } from '../components/state-mark.tsx'
import { countText } from '../format/number.ts'
import { be, type Tense } from '../format/words.ts'

const WORDS: Readonly<Record<SourceState, { readonly tone: StateTone; readonly word: string; readonly rank: number }>> =
  {
    failed: { tone: 'critical', word: 'Failed', rank: 0 },
    stuck: { tone: 'critical', word: 'Stuck', rank: 1 },
    denied: { tone: 'denied', word: 'Denied', rank: 2 },
    starved: { tone: 'warning', word: 'Starved', rank: 3 },
    starting: { tone: 'info', word: 'Starting', rank: 4 },
    reading: { tone: 'ok', word: 'Reading', rank: 5 },
    absent: { tone: 'absent', word: 'Absent', rank: 6 },
  }

/** Icon and word of the state of a source, and its rank in a list with trouble first. */
export function sourceState(state: SourceState): {
  readonly tone: StateTone
  readonly word: string
  readonly rank: number
} {
  // A newer agent may report states unknown to this page.
  return Object.hasOwn(WORDS, state) ? WORDS[state] : { tone: 'warning', word: state, rank: 2 }
}

/** The state of a source as a sentence: `rdma is absent`, `ethtool has failed`. */
export function stateWords({ name, state }: Pick<ListedSource, 'name' | 'state'>, tense: Tense): string {
  const verb = state !== 'failed' ? be(1, tense) : tense === 'past' ? 'had' : 'has'
  return `${name} ${verb} ${sourceState(state).word.toLowerCase()}`
}

/** Problems of the exporters that a source scrapes, in words; empty if there are none. */
export function targetWords({ failingTargets, disputes }: Pick<ListedSource, 'failingTargets' | 'disputes'>): string {
  const failing = failingTargets > 0 ? `${countText(failingTargets, 'exporter')} not read` : ''
  return [failing, disputes > 0 ? countText(disputes, 'dispute') : ''].filter(Boolean).join(', ')
}

/** Records dropped by a source or sink, for all reasons. */
export function droppedCount(source: Pick<ListedSource, 'dropped'>): number {
  return Object.values(source.dropped).reduce((sum, count) => sum + count, 0)
}
