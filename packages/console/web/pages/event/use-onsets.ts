import type { EventAnswer, EventLane } from '@sonde/sdk/api'
import { useEffect, useState } from 'react'
import { getSamples, pointsFor } from '../../api/event-samples.ts'
import { useStore } from '../../state/value-store.ts'
import { baseSpan, type Onset, onsetOf, type Usual, usualOf } from './onset.ts'
import type { ShownSamples } from './use-samples.ts'
import type { Span } from './view-span.ts'

/** The change of a lane, and how far it is resolved. */
export interface LaneOnset {
  readonly usual: Usual | undefined
  readonly onset: Onset | undefined
}

/** Onsets by lane key; empty until samples arrive. */
export type LaneOnsets = ReadonlyMap<string, LaneOnset>

const NONE: LaneOnsets = new Map()
/** Most rounds of refining coarse onsets. Each round is about a hundred times finer. */
const TURNS_MAX = 3
/** Most spans refined in a round. Lanes with overlapping spans share a request. */
const STRETCHES_MAX = 12
const POINTS = 1_200
/** An onset is refined if its span exceeds the uncertainty of one sample by this factor. */
const COARSE_FACTOR = 1.2

/** Finds when each lane left its usual range: first in the drawn points, then sample by sample around the change. */
export function useOnsets(answer: EventAnswer, samples: ShownSamples, window: Span): LaneOnsets {
  const { node, event, lanes } = answer
  const revision = useStore(samples.revision)
  const [onsets, setOnsets] = useState<LaneOnsets>(NONE)
  const { fromMs, toMs } = window
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key covers the lanes
  useEffect(() => {
    let isCurrent = true
    const idle = requestIdleCallback(
      async () => {
        const coarse = coarseOnsets(lanes, samples, baseSpan({ fromMs, toMs }, event.startMs))
        if (!isCurrent || coarse.size === 0) return
        setOnsets(coarse)
        const fine = await refine(
          `${node}:${event.id}`,
          lanes,
          coarse,
          baseSpan({ fromMs, toMs }, event.startMs),
        ).catch(() => coarse)
        if (isCurrent) setOnsets(fine)
      },
      { timeout: 500 },
    )
    return () => {
      isCurrent = false
      cancelIdleCallback(idle)
    }
  }, [samples.cache, revision, event.id, event.samples, fromMs, toMs])
  return onsets
}

function coarseOnsets(lanes: readonly EventLane[], { cache }: ShownSamples, base: Span): Map<string, LaneOnset> {
  const onsets = new Map<string, LaneOnset>()
  for (const lane of lanes) {
    const samples = cache.wholeOf(lane.key)
    if (!samples) continue
    const usual = usualOf(samples, base)
    onsets.set(lane.key, { usual, onset: usual && onsetOf(samples, lane, base, usual) })
  }
  return onsets
}

/** Refines every onset that is coarser than its samples allow. */
async function refine(event: string, lanes: readonly EventLane[], coarse: LaneOnsets, base: Span): Promise<LaneOnsets> {
  const onsets = new Map(coarse)
  for (let turn = 0; turn < TURNS_MAX; turn++) {
    const stretches = stretchesOf(
      lanes.filter((lane) => isCoarse(lane, onsets.get(lane.key)?.onset)),
      onsets,
    )
    if (stretches.length === 0) break
    for (const { span, lanes: own } of stretches.slice(0, STRETCHES_MAX)) {
      const keys = own.map(({ key }) => key)
      const answer = await getSamples({ event, lanes: keys, ...span, points: pointsFor(keys.length, POINTS) })
      for (const lane of own) {
        const samples = answer.lanes.find(({ key }) => key === lane.key)
        const { usual } = onsets.get(lane.key) ?? {}
        const onset =
          samples &&
          usual &&
          onsetOf(samples, lane, { fromMs: base.fromMs, toMs: Math.min(base.toMs, span.fromMs) }, usual)
        if (onset) onsets.set(lane.key, { usual, onset })
      }
    }
  }
  return onsets
}

function isCoarse({ resolutionMs, errorMs }: EventLane, onset: Onset | undefined): boolean {
  return onset !== undefined && onset.latestMs - onset.earliestMs > (resolutionMs + 2 * errorMs) * COARSE_FACTOR
}

/** Spans around onsets. Overlapping spans are merged. */
function stretchesOf(
  lanes: readonly EventLane[],
  onsets: LaneOnsets,
): readonly { readonly span: Span; readonly lanes: readonly EventLane[] }[] {
  const stretches: { span: Span; lanes: EventLane[] }[] = []
  const sorted = lanes
    .flatMap((lane) => {
      const onset = onsets.get(lane.key)?.onset
      return onset ? [{ lane, onset }] : []
    })
    .toSorted((a, b) => a.onset.earliestMs - b.onset.earliestMs)
  for (const { lane, onset } of sorted) {
    const roomMs = onset.latestMs - onset.earliestMs
    const span = { fromMs: onset.earliestMs - roomMs / 2, toMs: onset.latestMs + roomMs / 2 }
    const before = stretches.at(-1)
    if (before && span.fromMs <= before.span.toMs && span.toMs - before.span.fromMs < 4 * roomMs) {
      before.span = { fromMs: before.span.fromMs, toMs: Math.max(before.span.toMs, span.toMs) }
      before.lanes.push(lane)
    } else stretches.push({ span, lanes: [lane] })
  }
  return stretches
}
