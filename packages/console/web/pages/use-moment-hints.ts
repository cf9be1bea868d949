import type { HintsAnswer } from '@sonde/sdk/api'
import { useMemo } from 'react'
import { useHintsOf } from '../api/hints.ts'
import type { Resource } from '../api/resources.ts'
import { useToldSecond } from '../api/stale.ts'
import type { SpokenMoment } from '../devices/hint-words.ts'
import { type MomentHints, momentHints } from '../devices/moment-hints.ts'
import { usePageState } from '../state/time-window.ts'
import type { PageMoment } from './use-moment.ts'

/** The hints at the moment of the page, and the answer with them. */
export function useMomentHints({
  isNow,
  window,
}: Pick<PageMoment, 'isNow' | 'window'>): MomentHints & Pick<Resource<HintsAnswer>, 'data' | 'error'> {
  const { data, error } = useHintsOf(window)
  return useMemo(() => ({ ...momentHints(data, isNow), data, error }), [data, error, isNow])
}

/** The moment that sentences of the page describe. A live moment is updated every second. */
export function useSpokenMoment({ toMs, tense }: PageMoment): SpokenMoment {
  const nowMs = useToldSecond()
  const zone = usePageState().url.tz ?? 'utc'
  return { nowMs, toMs, tense, zone }
}
