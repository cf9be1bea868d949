import { Link } from 'wouter'
import { formatClock, zoneName } from '../format/time.ts'
import type { ChartModel } from './chart-model.ts'
import type { Plot } from './plot.ts'

/** Half the width of the pointer area of a flag. Unit: CSS pixels. */
const HALF_PX = 12

/** Pointer actions of the flags of a chart: a description and a link. Keyboard users use the list of hints. */
export function ChartFlags({ model, plot }: { readonly model: ChartModel; readonly plot: Plot }) {
  const { fromMs, toMs, marks, zone } = model.plot
  const { left, top, width } = plot.area
  const shown = marks.filter((mark) => mark.href !== undefined && mark.fromMs >= fromMs && mark.fromMs <= toMs)
  return shown.map((mark) => {
    const name = `${formatClock(mark.fromMs, zone)} ${zoneName(zone, mark.fromMs)}: ${mark.label}`
    const x = left + ((mark.fromMs - fromMs) / (toMs - fromMs)) * width
    return (
      <Link
        key={`${mark.fromMs} ${mark.label}`}
        className="chart-flag"
        style={{ left: x - HALF_PX / 2, top: top - HALF_PX }}
        href={mark.href ?? ''}
        title={name}
        aria-label={name}
        tabIndex={-1}
      />
    )
  })
}
