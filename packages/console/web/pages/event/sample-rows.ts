import type { EventLane } from '@sonde/sdk/api'
import type { LaneSamples } from '../../api/event-samples.ts'
import { lowerBound } from './lane-scale.ts'
import type { Span } from './view-span.ts'

/** A row of the table of samples: a point by its position, or a gap in words. */
export type SampleRow =
  | { readonly kind: 'point'; readonly at: number }
  | { readonly kind: 'gap'; readonly fromMs: number; readonly toMs: number; readonly samples: number }

/** The points of a lane in a view, with a row for each gap. */
export function sampleRows(lane: EventLane, samples: LaneSamples | undefined, view: Span): readonly SampleRow[] {
  const gaps = lane.gaps
    .filter((gap) => gap.toMs > view.fromMs && gap.fromMs < view.toMs)
    .map((gap): SampleRow => ({ kind: 'gap', ...gap }))
  if (!samples) return gaps
  const rows: SampleRow[] = []
  let nextGap = 0
  const end = lowerBound(samples.times, view.toMs + 1e-9)
  for (let at = lowerBound(samples.times, view.fromMs); at < end; at++) {
    for (let gap = gaps[nextGap]; gap?.kind === 'gap' && gap.fromMs < samples.times[at]!; gap = gaps[++nextGap])
      rows.push(gap)
    rows.push({ kind: 'point', at })
  }
  return [...rows, ...gaps.slice(nextGap)]
}
