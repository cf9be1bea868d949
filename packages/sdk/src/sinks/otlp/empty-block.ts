import type { PointBlock } from '../../wire/otlp/points.ts'
import type { SeriesOrigin } from './temporality.ts'

/** A block that is filled. */
export interface OpenBlock extends PointBlock {
  readonly attributes: Uint8Array[]
  readonly histogramAttributes: Uint8Array[]
}

/** A block for so many records, without points. `times`: those of the records. Default: all 0. */
export function emptyBlock(
  { metrics: { metrics, columns, hasHistogram }, resource, scope }: SeriesOrigin,
  count: number,
  times = new Uint32Array(count * 2),
): OpenBlock {
  const values = columns.map(({ width, isCumulative }) => ({
    low: new Uint32Array(count * width),
    high: new Uint32Array(count * width),
    present: new Uint8Array(count),
    starts: isCumulative ? new Uint32Array(count * 2) : undefined,
  }))
  const attributes = new Array<Uint8Array>(count)
  const histogramAttributes = hasHistogram ? new Array<Uint8Array>(count) : []
  return { resource, scope, metrics, values, attributes, histogramAttributes, times, from: 0, to: count }
}
