import type { SamplesHeader } from '@sonde/sdk/api'
import type { PassingSeries } from './passing-series.ts'
import type { ReadSamples } from './samples.ts'

/** Content type of samples of an event. */
export const SAMPLES_CONTENT_TYPE = 'application/vnd.sonde.samples'

type SampleColumn = Float64Array | Float32Array

/** Encodes samples as columns after a head; see `SamplesHeader`. `keys` is in the order of the request. */
export function encodeSamples({ stretch, series }: ReadSamples, keys: readonly string[]): Uint8Array {
  const columns: SampleColumn[] = []
  const lanes = new Map<string, SamplesHeader['lanes'][number]>()
  for (const one of series) for (const lane of encodedLanes(one, columns)) lanes.set(lane.key, lane)
  const fromMs = Number(stretch.fromNs / 1000n) / 1000
  const header: SamplesHeader = {
    ...{ fromMs, toMs: fromMs + stretch.spanMs, points: stretch.points },
    columns: columns.map((column) => ({ kind: column instanceof Float64Array ? 'f64' : 'f32', length: column.length })),
    lanes: keys.flatMap((key) => lanes.get(key) ?? []),
  }
  const head = Buffer.from(JSON.stringify(header))
  const start = align(4 + head.length)
  const bytes = new Uint8Array(columns.reduce((sum, { byteLength }) => sum + align(byteLength), start))
  new DataView(bytes.buffer).setUint32(0, head.length, true)
  bytes.set(head, 4)
  let at = start
  for (const column of columns) {
    bytes.set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength), at)
    at += align(column.byteLength)
  }
  return bytes
}

/** The lanes of a series. Adds their columns to `columns`. */
function encodedLanes(series: PassingSeries, columns: SampleColumn[]): SamplesHeader['lanes'] {
  const { isExact, samples } = series
  const times = isExact ? columns.push(series.held()) - 1 : 0
  return series.lanes.map(({ signal: { key }, lows, highs, exact }) => {
    if (!isExact) return { key, isExact, samples, lows: columns.push(lows) - 1, highs: columns.push(highs) - 1 }
    const values = columns.push(series.held(exact)) - 1
    return { key, isExact, samples, times, lows: values, highs: values }
  })
}

function align(bytes: number): number {
  return (bytes + 7) & ~7
}
