import { useMemo } from 'react'
import type { FrameRange } from '../api/frame.ts'
import { useSeriesOfMetric } from '../api/resources.ts'
import { useTense } from '../api/stale.ts'
import type { LiveDevices } from '../devices/interface-facts.ts'
import { formatSpanOfTime, type TimeZoneChoice, zoneName } from '../format/time.ts'
import type { Tense } from '../format/words.ts'
import { RECENT, RECENT_STEP_MS, usePageState } from '../state/time-window.ts'

/** The time that headlines, tiles, facts and tables describe: now, or the whole shown window. */
export interface PageMoment {
  /** Range of their queries: the last minutes, or the range of the charts. */
  readonly range: FrameRange
  readonly stepMs: number
  /** Range of the hints: the window of the page. */
  readonly window: FrameRange
  readonly isNow: boolean
  /** End of the window; absent if it is now. Unit: milliseconds since the Unix epoch. */
  readonly toMs?: number
  /** Tense of the sentences. Data that no longer arrives counts as past. */
  readonly tense: Tense
  /** The moment in words; empty if it is now. */
  readonly words: string
}

/** The moment of the page or of the given window. */
export function useMoment(window?: FrameRange): PageMoment {
  const { range: own, stepMs, url } = usePageState()
  const range = window ?? own
  const tense = useTense()
  const zone = url.tz ?? 'utc'
  return useMemo(() => momentOf(range, { stepMs, tense, zone }), [range, stepMs, tense, zone])
}

function momentOf(
  range: FrameRange,
  { stepMs, tense, zone }: Pick<PageMoment, 'stepMs' | 'tense'> & { readonly zone: TimeZoneChoice },
): PageMoment {
  if (range.kind === 'live')
    return { range: RECENT, stepMs: RECENT_STEP_MS, window: range, isNow: true, tense, words: '' }
  const words = `In the window ${formatSpanOfTime(range.fromMs, range.toMs, zone)} ${zoneName(zone, range.toMs)}`
  return { range, stepMs, window: range, isNow: false, toMs: range.toMs, tense: 'past', words }
}

/** The interfaces that the server reads now. Undefined before the first answer, and if the page shows the past. */
export function useLiveDevices({ isNow }: PageMoment): LiveDevices {
  const { data } = useSeriesOfMetric('netdev_rx_bytes_total')
  return useMemo(
    () => (isNow && data ? new Set(data.series.map(({ labels }) => labels.device ?? '')) : undefined),
    [isNow, data],
  )
}
