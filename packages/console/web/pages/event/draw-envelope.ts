import type { LaneSamples } from '../../api/event-samples.ts'
import type { LaneBox, LaneDrawing } from './draw-lane.ts'
import { pointsWithin } from './lane-scale.ts'

/** Opacity of the band. */
const ALPHA = 0.22

/** The least and greatest possible value of a lane in each column; NaN if there is none. */
export interface Envelope {
  readonly lows: Float64Array
  readonly highs: Float64Array
}

/**
 * The possible values of a signal in each column of a plot. A sample covers the time since the previous sample, and its
 * clock is off by at most `errorMs`.
 */
export function envelopeOf(
  { times, lows, highs }: Pick<LaneSamples, 'times' | 'lows' | 'highs'>,
  range: { readonly first: number; readonly last: number },
  lane: { readonly resolutionMs: number; readonly errorMs: number },
  plot: { readonly columns: number; readonly fromMs: number; readonly toMs: number },
): Envelope {
  const perMs = plot.columns / (plot.toMs - plot.fromMs)
  const envelope = {
    lows: new Float64Array(plot.columns).fill(Number.NaN),
    highs: new Float64Array(plot.columns).fill(Number.NaN),
  }
  for (let at = range.first; at <= range.last; at++) {
    if (Number.isNaN(lows[at]!)) continue
    const timeMs = times[at]!
    const sinceMs = Math.max(timeMs - lane.resolutionMs, at > 0 ? times[at - 1]! : Number.NEGATIVE_INFINITY)
    const from = Math.max(0, Math.floor((sinceMs - lane.errorMs - plot.fromMs) * perMs))
    const to = Math.min(plot.columns - 1, Math.ceil((timeMs + lane.errorMs - plot.fromMs) * perMs))
    for (let column = from; column <= to; column++) {
      if (!(envelope.lows[column]! <= lows[at]!)) envelope.lows[column] = lows[at]!
      if (!(envelope.highs[column]! >= highs[at]!)) envelope.highs[column] = highs[at]!
    }
  }
  return envelope
}

/** Draws the band of possible values if the clock error is wide enough to see. */
export function drawEnvelope(
  context: CanvasRenderingContext2D,
  { lane, view }: LaneDrawing,
  samples: LaneSamples,
  box: LaneBox & { readonly x: (ms: number) => number; readonly y: (value: number) => number },
  colour: string,
): void {
  const { left, width, unit, x, y } = box
  if (x(view.fromMs + lane.errorMs) - left < unit) return
  const columns = Math.ceil(width / unit)
  // Samples outside of the view by less than the error still reach into it.
  const range = pointsWithin(samples, view.fromMs - lane.errorMs, view.toMs + lane.errorMs + lane.resolutionMs)
  const { lows, highs } = envelopeOf(samples, range, lane, { columns, fromMs: view.fromMs, toMs: view.toMs })
  context.save()
  context.globalAlpha = ALPHA
  context.fillStyle = colour
  context.beginPath()
  for (let from = 0; from < columns; from++) {
    if (Number.isNaN(lows[from]!)) continue
    let to = from
    while (to + 1 < columns && lows[to + 1] === lows[from] && highs[to + 1] === highs[from]) to++
    const top = y(highs[from]!)
    context.rect(left + from * unit, top, (to - from + 1) * unit, y(lows[from]!) - top)
    from = to
  }
  context.fill()
  context.restore()
}
