import { useMemo } from 'react'
import { SPARK_HEIGHT, SPARK_WIDTH, sparkPath } from './spark-path.ts'

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
      viewBox={`0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path
        className="sparkline-base"
        d={`M0 ${SPARK_HEIGHT - 0.5}H${SPARK_WIDTH}`}
        vectorEffect="non-scaling-stroke"
      />
      <path className="sparkline-line" d={path} vectorEffect="non-scaling-stroke" />
    </svg>
  )
}
