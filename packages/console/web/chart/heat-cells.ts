import type { Palette } from '../components/palette.ts'
import { type Box, geometryOf } from './geometry.ts'
import { heatStep } from './heat.ts'
import type { PlotModel } from './plot-model.ts'

/** A run of samples of one bin with one colour. Unit: canvas pixels from the left of the canvas. */
export interface HeatRun {
  readonly fromX: number
  readonly toX: number
  readonly step: number
}

/** Between the scale and the plot, and the width of the scale. Unit: CSS pixels. */
const SCALE_BESIDE_PX = 1
const SCALE_PX = 3

/** Draws the cells of a heat strip, and the scale of colours at its left. Positions without a sample stay empty. */
export function drawHeat(
  context: CanvasRenderingContext2D,
  model: PlotModel,
  box: Box & { readonly unit: number },
  { heat: colours }: Palette,
): void {
  if (!model.heat) return
  const { left, top, width, height, unit } = box
  const { perSample, left: start } = geometryOf(box, model)
  const edgeOf = (bin: number): number => Math.round(top + height - (bin * height) / model.lines.length)
  context.save()
  context.beginPath()
  context.rect(left, top, width, height)
  context.clip()
  for (const [bin, { values }] of model.lines.entries()) {
    const y = edgeOf(bin + 1)
    // A line of the ground tells bins apart that are high enough.
    const lineHeight = edgeOf(bin) - y > 4 * unit ? unit : 0
    for (const { fromX, toX, step } of heatRuns(values, model.heat.top, { start, perSample, left, width })) {
      context.fillStyle = colours[step] ?? ''
      context.fillRect(fromX, y, toX - fromX, edgeOf(bin) - y - lineHeight)
    }
  }
  context.restore()
  const scaleHeight = height / colours.length
  for (const [step, colour] of colours.entries()) {
    const y = Math.round(top + height - (step + 1) * scaleHeight)
    context.fillStyle = colour
    context.fillRect(left - (SCALE_BESIDE_PX + SCALE_PX) * unit, y, SCALE_PX * unit, Math.ceil(scaleHeight))
  }
}

/**
 * The runs of one bin from left to right. A sample is as wide as its step and ends at its time. Where several share a
 * pixel, the largest is seen, so that no peak is lost.
 */
export function heatRuns(
  values: Float64Array,
  top: number,
  place: { readonly start: number; readonly perSample: number; readonly left: number; readonly width: number },
): HeatRun[] {
  const { start, perSample, left, width } = place
  const runs: HeatRun[] = []
  const firstSample = Math.max(0, Math.floor((left - start) / perSample))
  const lastSample = Math.min(values.length - 1, Math.ceil((left + width - start) / perSample))
  for (let i = firstSample; i <= lastSample; ) {
    const fromX = Math.round(start + (i - 1) * perSample)
    let largest = values[i]!
    let toX = Math.round(start + i * perSample)
    for (i++; i <= lastSample && (toX <= fromX || Math.round(start + i * perSample) === toX); i++) {
      if (!(values[i]! <= largest)) largest = Number.isNaN(values[i]!) ? largest : values[i]!
      toX = Math.round(start + i * perSample)
    }
    const step = heatStep(largest, top)
    if (step < 0) continue
    const before = runs.at(-1)
    if (before?.step === step && before.toX === fromX) runs[runs.length - 1] = { ...before, toX }
    else runs.push({ fromX, toX, step })
  }
  return runs
}
