import { useMemo } from 'react'
import { type PathSink, traceLine } from '../chart/trace.ts'

const WIDTH = 120
const HEIGHT = 24

interface SparklineProps {
  readonly values: Float64Array
  /** Raw value of the top edge; the bottom is 0. */
  readonly top: number
  /** Position of the first and last sample that are shown. */
  readonly from: number
  readonly to: number
  readonly tone?: 'herd' | 'lit'
}

/** The last minutes of one signal, small: fixed scale, baseline, gaps as gaps. */
export function Sparkline({ values, top, from, to, tone = 'herd' }: SparklineProps) {
  const path = useMemo(() => sparkPath(values, top, from, to), [values, top, from, to])
  return (
    <svg
      className={`sparkline is-${tone}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path className="sparkline-base" d={`M0 ${HEIGHT - 0.5}H${WIDTH}`} vectorEffect="non-scaling-stroke" />
      <path className="sparkline-line" d={path} vectorEffect="non-scaling-stroke" />
    </svg>
  )
}

/** The path of a sparkline: at most two points a pixel column. */
export function sparkPath(values: Float64Array, top: number, from: number, to: number): string {
  const parts: string[] = []
  const sink: PathSink = {
    moveTo: (x, y) => parts.push(`M${x.toFixed(1)} ${y.toFixed(1)}`),
    lineTo: (x, y) => parts.push(`L${x.toFixed(1)} ${y.toFixed(1)}`),
  }
  const perSample = WIDTH / Math.max(1, to - from)
  const geometry = { left: -from * perSample, perSample, zero: HEIGHT - 1.5, perUnit: (HEIGHT - 3) / (top || 1) }
  traceLine(sink, values, Math.max(0, from), to, geometry, 'line')
  return parts.join('')
}
