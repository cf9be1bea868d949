import uPlot from 'uplot'
import type { Geometry } from '../components/trace.ts'
import type { PlotModel } from './plot-model.ts'

/** Samples that are further apart than this are steps. Unit: CSS pixels. */
const STEP_MIN_PX = 4

/** A plotting area. Unit: canvas pixels. */
export interface Box {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

/** Where the samples of a model lie in a box. */
export function geometryOf(box: Box, model: PlotModel): Geometry {
  const { left, width, top: boxTop, height } = box
  const { times, stepMs, bottom, top, fromMs, toMs } = model
  const perMs = width / (toMs - fromMs)
  const perUnit = height / (top - bottom || 1)
  return {
    left: left + ((times[0] ?? fromMs) - fromMs) * perMs,
    perSample: stepMs * perMs,
    zero: boxTop + height + bottom * perUnit,
    perUnit,
  }
}

/** Whether samples are so far apart that they are drawn as steps. */
export function shapeOf({ perSample }: Pick<Geometry, 'perSample'>): 'line' | 'steps' {
  return perSample > STEP_MIN_PX * uPlot.pxRatio ? 'steps' : 'line'
}
