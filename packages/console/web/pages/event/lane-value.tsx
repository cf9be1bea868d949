import type { EventLane } from '@sonde/sdk/api'
import { formatIn } from '../../format/number.ts'
import { useCursor } from '../../state/cursor.ts'
import { usePageState } from '../../state/time-window.ts'
import { useStore } from '../../state/value-store.ts'
import { readingWords, readLane, readLast } from './lane-reading.ts'
import type { LaneContext } from './lane-row.tsx'
import { type LaneScale, laneScale } from './lane-scale.ts'
import type { Usual } from './onset.ts'

interface ShownProps {
  readonly lane: EventLane
  readonly context: LaneContext
  /** The scale of the drawing. */
  readonly scale: { readonly current: LaneScale | undefined }
}

function useShown({ lane, context, scale }: ShownProps) {
  const { samples, view } = context
  const shown = useStore(view.stage.view)
  useStore(samples.revision)
  const here = samples.cache.samplesFor(lane.key, shown)
  return { shown, here, unit: laneScale(lane, here, shown, scale.current).unit }
}

/** The display unit of a lane. */
export function LaneUnit(props: ShownProps) {
  const { unit } = useShown(props)
  return <span className="unit"> {unit.label.trim()}</span>
}

/** The value of a lane at the cursor, else at the end of the view, and the usual range before the event. */
export function LaneValue({ usual, ...props }: ShownProps & { readonly usual: Usual | undefined }) {
  const pinnedMs = usePageState().url.atMs
  const cursorMs = useCursor(pinnedMs)
  const { shown, here, unit } = useShown(props)
  const reading = cursorMs === null ? readLast(props.lane, here, shown) : readLane(props.lane, here, cursorMs)
  return (
    <>
      <span className="lane-reading">{readingWords(reading, { unit })}</span>
      {usual && <span className="lane-usual">before {formatIn(unit, usual.middle)}</span>}
    </>
  )
}
