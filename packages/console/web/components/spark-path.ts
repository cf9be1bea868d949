import { type PathSink, traceLine } from './trace.ts'

/** The field that a sparkline is drawn in; it is stretched to the room that there is. */
export const SPARK_WIDTH = 120
/** Height of the field. */
export const SPARK_HEIGHT = 24

/** The path of a sparkline: at most two points a pixel column. */
export function sparkPath(values: Float64Array, top: number, from: number, to: number): string {
  const parts: string[] = []
  const sink: PathSink = {
    moveTo: (x, y) => parts.push(`M${x.toFixed(1)} ${y.toFixed(1)}`),
    lineTo: (x, y) => parts.push(`L${x.toFixed(1)} ${y.toFixed(1)}`),
  }
  const perSample = SPARK_WIDTH / Math.max(1, to - from)
  const geometry = {
    left: -from * perSample,
    perSample,
    zero: SPARK_HEIGHT - 1.5,
    perUnit: (SPARK_HEIGHT - 3) / (top || 1),
  }
  traceLine(sink, values, Math.max(0, from), to, geometry, 'line')
  return parts.join('')
}
