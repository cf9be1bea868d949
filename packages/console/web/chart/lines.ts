import type uPlot from 'uplot'
import { DASHES } from '../components/palette.ts'
import { traceBand, traceLane, traceLine } from '../components/trace.ts'
import type { DrawnPlot } from './axes.ts'
import { geometryOf, shapeOf } from './geometry.ts'
import { libraryLines, type PlotModel } from './plot-model.ts'

/** How much of the page a band lets through. */
const BAND_ALPHA = 0.15
/** The same for the fill of a lane. */
const LANE_ALPHA = 0.3

/**
 * The band and the lines, with our own path builders: these keep gaps and never lose a peak. Lines of the layer are
 * drawn there; the plot library does not know them.
 */
export function plotSeries({ model, palette }: DrawnPlot): uPlot.Series[] {
  const { lines, band } = model()
  const quiet = { auto: false, points: { show: false } }
  const colourOf = (place: number): string => {
    const slot = model().lines[place]?.slot
    return slot ? palette().slots[slot] : palette().herd
  }
  const drawn = libraryLines(model()).map((place): uPlot.Series => {
    const { widthPx, dashed, slot, lane } = lines[place]!
    return {
      ...quiet,
      width: widthPx,
      stroke: () => colourOf(place),
      ...(lane?.isFilled ? { fill: () => translucent(colourOf(place), LANE_ALPHA) } : {}),
      ...(dashed && slot ? { dash: [...DASHES[slot]] } : {}),
      cap: 'butt',
      paths: (plot, _series, from, to) => linePaths(plot, model(), place, { from, to }),
    }
  })
  if (!band) return drawn
  const filled: uPlot.Series = {
    ...quiet,
    width: 0,
    fill: () => translucent(palette().herd, BAND_ALPHA),
    paths: (plot, _series, from, to) => bandPaths(plot, model(), { from, to }),
  }
  return [filled, ...drawn]
}

interface Span {
  readonly from: number
  readonly to: number
}

function linePaths(plot: uPlot, model: PlotModel, place: number, { from, to }: Span): uPlot.Series.Paths {
  const stroke = new Path2D()
  const geometry = geometryOf(plot.bbox, model)
  const { heights, lane } = model.lines[place]!
  traceLine(stroke, heights, from, to, geometry, shapeOf(geometry))
  if (!lane?.isFilled) return { stroke }
  const fill = new Path2D()
  traceLane(fill, heights, lane.base, from, to, geometry, shapeOf(geometry))
  return { stroke, fill }
}

function bandPaths(plot: uPlot, model: PlotModel, { from, to }: Span): uPlot.Series.Paths {
  const fill = new Path2D()
  const { band } = model
  const geometry = geometryOf(plot.bbox, model)
  if (band) traceBand(fill, band.low, band.high, from, to, geometry, shapeOf(geometry))
  return { fill }
}

function translucent(colour: string, alpha: number): string {
  return colour.startsWith('rgb(') ? colour.replace(/^rgb\((.*)\)$/, `rgba($1, ${alpha})`) : colour
}
