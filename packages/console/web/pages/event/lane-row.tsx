import type { EventLane, EventMark } from '@sonde/sdk/api'
import { memo, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useIsSeen } from '../../chart/use-is-seen.ts'
import type { SeriesSlot } from '../../components/palette.ts'
import { formatDuration } from '../../format/time.ts'
import { drawLane } from './draw-lane.ts'
import { kindPlace, PLACE_SLOTS } from './lane-groups.ts'
import { type LaneScale, laneScale } from './lane-scale.ts'
import { LaneUnit, LaneValue } from './lane-value.tsx'
import type { EventView } from './use-event-view.ts'
import type { LaneOnset } from './use-onsets.ts'
import type { ShownSamples } from './use-samples.ts'
import type { Span } from './view-span.ts'

/** Height of a lane, and its padding above and below the values. Unit: CSS pixels. */
const LANE_PX = 56
const ABOVE_PX = 8
const BELOW_PX = 8

/** What all lanes share. */
export interface LaneContext {
  readonly view: EventView
  readonly samples: ShownSamples
  readonly marks: readonly EventMark[]
  readonly event: number
  readonly held: Span
  readonly startMs: number
  readonly isOpen: boolean
  /** Width of the canvas, and of the scale at its left. Unit: CSS pixels. */
  readonly widthPx: number
  readonly gutterPx: number
}

interface LaneRowProps {
  readonly lane: EventLane
  readonly context: LaneContext
  readonly found: LaneOnset | undefined
  /** Whether the lane is on the first screen. */
  readonly isFirst: boolean
  readonly isChosen: boolean
  readonly onChoose: (key: string) => void
}

/** A signal: its name, its drawing, and its value at the cursor. */
export const LaneRow = memo(function LaneRow({ lane, context, found, isFirst, isChosen, onChoose }: LaneRowProps) {
  const [row, setRow] = useState<HTMLLIElement | null>(null)
  const isSeen = useIsSeen(row, isFirst)
  const scale = useRef<LaneScale>(undefined)
  const slot = PLACE_SLOTS[kindPlace(lane)]
  const { samples } = context
  useEffect(() => {
    samples.setSeen(lane.key, isSeen)
    return () => samples.setSeen(lane.key, false)
  }, [samples, lane.key, isSeen])
  return (
    <li ref={setRow} className={isChosen ? 'lane-row is-chosen' : 'lane-row'}>
      <div className="lane-name">
        <div className="lane-line">
          <button type="button" className="lane-button" aria-pressed={isChosen} onClick={() => onChoose(lane.key)}>
            <span className="lane-swatch" style={{ background: `var(--s${slot})` }} aria-hidden="true" />
            <span className="lane-title" title={lane.name}>
              {lane.name}
            </span>
          </button>
          {isSeen && <LaneUnit lane={lane} context={context} scale={scale} />}
          {lane.isOfRule && <span className="lane-flag" role="img" aria-label="The rule watches it" />}
        </div>
        <p className="lane-note">{noteOf(lane)}</p>
      </div>
      <LaneCanvas lane={lane} context={context} slot={slot} found={found} isSeen={isSeen} scale={scale} />
      <div className="lane-value num">
        {isSeen && <LaneValue lane={lane} context={context} scale={scale} usual={found?.usual} />}
      </div>
    </li>
  )
})

/** The device, the resolution of its samples, and their clock error. */
function noteOf({ deviceName, resolutionMs, errorMs }: EventLane): string {
  return [deviceName, formatDuration(resolutionMs), errorMs > 0 ? `±${formatDuration(errorMs)}` : '']
    .filter(Boolean)
    .join(' · ')
}

function LaneCanvas({
  lane,
  context,
  slot,
  found,
  isSeen,
  scale,
}: {
  readonly lane: EventLane
  readonly context: LaneContext
  readonly slot: SeriesSlot
  readonly found: LaneOnset | undefined
  readonly isSeen: boolean
  readonly scale: { current: LaneScale | undefined }
}) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const latest = useRef({ lane, context, slot, found, isSeen })
  latest.current = { lane, context, slot, found, isSeen }
  const { stage } = context.view
  useEffect(
    () =>
      stage.add({
        isSeen: () => latest.current.isSeen,
        paint: (view, palette) => {
          const host = canvas.current
          const drawing = host?.getContext('2d')
          const { lane, context, slot, found } = latest.current
          if (!host || !drawing || context.widthPx === 0) return
          const unit = Math.max(1, window.devicePixelRatio)
          fit(host, Math.round(context.widthPx * unit), Math.round(LANE_PX * unit))
          drawing.clearRect(0, 0, host.width, host.height)
          const shown = context.samples.cache.samplesFor(lane.key, view)
          scale.current = laneScale(lane, shown, view, scale.current)
          const { marks, event, held } = context
          drawLane(
            drawing,
            { lane, samples: shown, view, scale: scale.current, slot, marks, event, held, onset: found?.onset },
            {
              left: context.gutterPx * unit,
              top: ABOVE_PX * unit,
              width: host.width - context.gutterPx * unit,
              height: (LANE_PX - ABOVE_PX - BELOW_PX) * unit,
              unit,
            },
            palette,
          )
        },
      }),
    [stage, scale],
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: each value changes the drawing
  useLayoutEffect(() => stage.paintSoon(), [stage, lane, context, slot, found, isSeen])
  return <canvas ref={canvas} className="lane-canvas" style={{ height: LANE_PX }} />
}

/** Sets the size only if it changed, because setting it clears the canvas. */
function fit(canvas: HTMLCanvasElement, width: number, height: number): void {
  if (canvas.width !== width) canvas.width = width
  if (canvas.height !== height) canvas.height = height
}
