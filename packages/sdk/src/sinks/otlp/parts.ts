import { type HttpRequest, httpRequest } from '../../delivery/connection/http-client.ts'
import type { RefusedRecords } from '../../delivery/sender.ts'
import { encodeMetrics, headBytesMax, pointsOf, recordBytesMax } from '../../wire/otlp/encode-metrics.ts'
import type { PointBlock, Temporality } from '../../wire/otlp/points.ts'

/** Records of a batch in a part. */
export interface PartBlock {
  readonly points: PointBlock
  /** Index of the batch among those of the request. */
  readonly batch: number
}

/** One HTTP request of a delivery's request. */
export interface Part {
  readonly signal: 'metrics' | 'logs'
  readonly request: HttpRequest
  readonly records: number
  /** Data points, or log records. */
  readonly items: number
  /** The records, as a refusal of all of them. */
  refusal(reason: string): readonly RefusedRecords[]
  /** The same records in two parts; undefined if it is one record. */
  halves(): readonly Part[] | undefined
}

/** How parts are made. */
export interface PartOptions {
  readonly temporality: Temporality
  /** Encodes a protobuf message as the body of a request. */
  readonly bodyOf: (message: Uint8Array) => string | Uint8Array
}

/** Splits blocks so that no part is larger than a limit, except a single record. */
export function metricParts(blocks: readonly PartBlock[], bytesMax: number, options: PartOptions): Part[] {
  const parts: Part[] = []
  let open: PartBlock[] = []
  let bytes = 0
  const close = () => {
    parts.push(...metricPart(open, options))
    open = []
    bytes = 0
  }
  for (const { points, batch } of blocks) {
    let { from } = points
    const headBytes = headBytesMax(points)
    bytes += headBytes
    for (let record = from; record < points.to; record++) {
      const recordBytes = recordBytesMax(points, record)
      if (bytes + recordBytes > bytesMax && (record > from || open.length > 0)) {
        if (record > from) open.push({ points: { ...points, from, to: record }, batch })
        close()
        from = record
        bytes = headBytes
      }
      bytes += recordBytes
    }
    open.push({ points: { ...points, from }, batch })
  }
  if (open.length > 0) close()
  return parts
}

/** One part; none if its records have no point. */
function metricPart(blocks: readonly PartBlock[], options: PartOptions): readonly Part[] {
  const message = encodeMetrics(
    blocks.map(({ points }) => points),
    options.temporality,
  )
  if (message === undefined) return []
  const records = blocks.reduce((sum, { points: { from, to } }) => sum + to - from, 0)
  const part: Part = {
    signal: 'metrics',
    request: httpRequest(options.bodyOf(message)),
    records,
    items: blocks.reduce((sum, { points }) => sum + pointsOf(points), 0),
    refusal: (reason) =>
      blocks.map(({ points: { from, to }, batch }) => ({
        batch,
        records: Array.from({ length: to - from }, (_, i) => from + i),
        reason,
      })),
    halves() {
      if (records <= 1) return undefined
      const [first, second] = halved(blocks, records >> 1)
      return [...metricPart(first, options), ...metricPart(second, options)]
    },
  }
  return [part]
}

/** The first records, and the others. */
function halved(blocks: readonly PartBlock[], count: number): readonly [PartBlock[], PartBlock[]] {
  const first: PartBlock[] = []
  const second: PartBlock[] = []
  let left = count
  for (const { points, batch } of blocks) {
    const { from, to } = points
    const middle = Math.min(to, from + left)
    if (middle > from) first.push({ points: { ...points, to: middle }, batch })
    if (to > middle) second.push({ points: { ...points, from: middle }, batch })
    left -= middle - from
  }
  return [first, second]
}
