import { formatAfter } from './event-time.ts'
import { lengthOf, type Span } from './view-span.ts'

/** A label of the axis: a time after the start of the event. */
export interface AxisTick {
  readonly atMs: number
  readonly text: string
}

const STEPS = [1, 2, 5]
const LABEL_PX = 84

/** Round offsets from the start of an event, as many as fit. */
export function axisTicks(view: Span, startMs: number, widthPx: number): readonly AxisTick[] {
  const most = Math.max(2, Math.floor(widthPx / LABEL_PX))
  const stepMs = roundStep(lengthOf(view) / most)
  const scaleMs = Math.max(Math.abs(view.fromMs - startMs), Math.abs(view.toMs - startMs))
  const ticks: AxisTick[] = []
  const first = Math.ceil((view.fromMs - startMs) / stepMs)
  for (let count = first; ; count++) {
    const offsetMs = count * stepMs
    if (startMs + offsetMs > view.toMs) return ticks
    ticks.push({ atMs: startMs + offsetMs, text: count === 0 ? 'start' : tickText(offsetMs, stepMs, scaleMs) })
  }
}

function roundStep(leastMs: number): number {
  const decade = 10 ** Math.floor(Math.log10(leastMs))
  return (STEPS.find((step) => step * decade >= leastMs * (1 - 1e-9)) ?? 10) * decade
}

/** All labels share a unit. */
function tickText(offsetMs: number, stepMs: number, scaleMs: number): string {
  if (Math.abs(offsetMs) >= 60_000 && stepMs >= 1_000) {
    const seconds = Math.round(Math.abs(offsetMs) / 1_000)
    const sign = offsetMs < 0 ? '−' : '+'
    return `${sign}${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
  }
  return formatAfter(offsetMs, stepMs, scaleMs)
}
