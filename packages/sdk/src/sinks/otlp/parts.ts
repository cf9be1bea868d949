import { type HttpRequest, httpRequest } from '../../delivery/connection/http-client.ts'
import type { RefusedRecords } from '../../delivery/sender.ts'
import { encodeLogs, type LogBlock } from '../../wire/otlp/encode-logs.ts'
import { encodeMetrics, headBytesMax, pointsOf, recordBytesMax } from '../../wire/otlp/encode-metrics.ts'
import type { PointBlock, Temporality } from '../../wire/otlp/points.ts'
import { messageToJson } from '../../wire/otlp/to-json.ts'
import type { OtlpProtocol } from './config.ts'
import type { OtlpSignal } from './signals.ts'

/** Records of a batch in a part. */
export interface PartBlock<B extends Range> {
  readonly block: B
  /** Index of the batch among those of the request. */
  readonly batch: number
}

/** The first record, and the first behind the last. */
interface Range {
  readonly from: number
  readonly to: number
}

/** One HTTP request of a delivery's request. */
export interface OtlpPart {
  readonly signal: OtlpSignal
  readonly request: HttpRequest
  /** Size of its body. Unit: bytes. */
  readonly bytes: number
  readonly records: number
  /** The number of data points, or of log records. */
  items(): number
  /** The records, as a refusal of all of them. */
  refusal(reason: string): readonly RefusedRecords[]
  /** The same records in two parts; undefined if it is one record. */
  halves(): readonly OtlpPart[] | undefined
}

/** How the blocks of a signal become a message. */
export interface Encoding<B extends Range> {
  readonly signal: OtlpSignal
  /** The message of blocks; undefined if nothing is in it. */
  readonly encode: (blocks: readonly B[]) => Uint8Array | undefined
  /** Data points, or log records. */
  readonly itemsOf: (block: B) => number
  /** Upper bounds of the size of a block without records, and of one of its records. Unit: bytes. */
  readonly headBytesMax: (block: B) => number
  readonly recordBytesMax: (block: B, record: number) => number
  readonly protocol: OtlpProtocol
}

/** JSON is at most so many times as large as protobuf. */
const JSON_GROWTH = 6

/** How metrics are encoded. */
export function metricEncoding(temporality: Temporality, protocol: OtlpProtocol): Encoding<PointBlock> {
  const encode = (blocks: readonly PointBlock[]) => encodeMetrics(blocks, temporality)
  return { signal: 'metrics', encode, itemsOf: pointsOf, headBytesMax, recordBytesMax, protocol }
}

/** How logs are encoded. */
export function logEncoding(protocol: OtlpProtocol): Encoding<LogBlock> {
  return {
    signal: 'logs',
    encode: encodeLogs,
    itemsOf: ({ from, to }) => to - from,
    headBytesMax: ({ resource, scope }) => resource.length + scope.length + 32,
    recordBytesMax: ({ records }, record) => (records[record]?.length ?? 0) + 8,
    protocol,
  }
}

/** Splits blocks so that no part is larger than a limit, except a single record. */
export function partsOf<B extends Range>(
  blocks: readonly PartBlock<B>[],
  bytesMax: number,
  encoding: Encoding<B>,
): OtlpPart[] {
  const growth = encoding.protocol === 'http/json' ? JSON_GROWTH : 1
  const parts: OtlpPart[] = []
  let open: PartBlock<B>[] = []
  let bytes = 0
  const close = () => {
    parts.push(...partOf(open, encoding))
    open = []
    bytes = 0
  }
  for (const { block, batch } of blocks) {
    let { from } = block
    const headBytes = encoding.headBytesMax(block) * growth
    bytes += headBytes
    for (let record = from; record < block.to; record++) {
      const recordBytes = encoding.recordBytesMax(block, record) * growth
      if (bytes + recordBytes > bytesMax && (record > from || open.length > 0)) {
        if (record > from) open.push({ block: { ...block, from, to: record }, batch })
        close()
        from = record
        bytes = headBytes
      }
      bytes += recordBytes
    }
    open.push({ block: { ...block, from }, batch })
  }
  if (open.length > 0) close()
  return parts
}

/** One part; none if its records have nothing to send. */
function partOf<B extends Range>(blocks: readonly PartBlock<B>[], encoding: Encoding<B>): readonly OtlpPart[] {
  const { signal, encode, itemsOf, protocol } = encoding
  const message = encode(blocks.map(({ block }) => block))
  if (message === undefined) return []
  const body = protocol === 'http/json' ? messageToJson(signal, message) : message
  const records = blocks.reduce((sum, { block: { from, to } }) => sum + to - from, 0)
  const part: OtlpPart = {
    signal,
    request: httpRequest(body),
    bytes: body.length,
    records,
    items: () => blocks.reduce((sum, { block }) => sum + itemsOf(block), 0),
    refusal: (reason) =>
      blocks.map(({ block: { from, to }, batch }) => ({
        batch,
        records: Array.from({ length: to - from }, (_, i) => from + i),
        reason,
      })),
    halves() {
      if (records <= 1) return undefined
      const [first, second] = halved(blocks, records >> 1)
      return [...partOf(first, encoding), ...partOf(second, encoding)]
    },
  }
  return [part]
}

/** The first records, and the others. */
function halved<B extends Range>(blocks: readonly PartBlock<B>[], count: number): [PartBlock<B>[], PartBlock<B>[]] {
  const first: PartBlock<B>[] = []
  const second: PartBlock<B>[] = []
  let left = count
  for (const { block, batch } of blocks) {
    const { from, to } = block
    const middle = Math.min(to, from + left)
    if (middle > from) first.push({ block: { ...block, to: middle }, batch })
    if (to > middle) second.push({ block: { ...block, from: middle }, batch })
    left -= middle - from
  }
  return [first, second]
}
