import { longVarintBytes, MessageBytes, varintBytes } from './message.ts'
import type { MetricInfo, SeriesSamples, SeriesWriter, SortedLabels } from './series.ts'
import { SnappyEncoder } from './snappy.ts'

/**
 * Field numbers and wire types of `prometheus.WriteRequest`, Remote-Write 1.0: a request has `timeseries` (1), these
 * have `labels` (1) of `name` (1) and `value` (2), and `samples` (2) of `value` (1, double) and `timestamp` (2, ms).
 */
const TAG = { first: 0x0a, second: 0x12, double: 0x09, time: 0x10 } as const
/** Bytes of a sample at most, with tag and length. */
const SAMPLE_BYTES_MAX = 2 + 9 + 11

/** Writes `prometheus.WriteRequest` of Remote-Write 1.0. It is used for one request after the other. */
export class Writer1 implements SeriesWriter {
  readonly generation = '1'
  samples = 0
  readonly #message = new MessageBytes()
  readonly #snappy = new SnappyEncoder()

  get bytes(): number {
    return this.#message.length
  }

  labels(labels: SortedLabels): Buffer {
    const message = new MessageBytes()
    for (const [name, value] of labels) {
      const [nameBytes, valueBytes] = [Buffer.from(name), Buffer.from(value)]
      const size = 2 + varintBytes(nameBytes.length) + varintBytes(valueBytes.length)
      message.reserve(size + nameBytes.length + valueBytes.length + 6)
      message.putByte(TAG.first)
      message.putVarint(size + nameBytes.length + valueBytes.length)
      putText(message, TAG.first, nameBytes)
      putText(message, TAG.second, valueBytes)
    }
    return Buffer.from(message.bytes.subarray(0, message.length))
  }

  series(labels: Uint8Array, _metric: MetricInfo, { count, timesMs, low, high }: SeriesSamples): void {
    const message = this.#message
    message.reserve(labels.length + 12 + count * SAMPLE_BYTES_MAX)
    let size = labels.length
    for (let i = 0; i < count; i++) size += 2 + sampleBytes(timesMs[i]!, low[i]!, high[i]!)
    message.putByte(TAG.first)
    message.putVarint(size)
    message.putBytes(labels)
    for (let i = 0; i < count; i++) {
      const [timeMs, lowWord, highWord] = [timesMs[i]!, low[i]!, high[i]!]
      message.putByte(TAG.second)
      message.putByte(sampleBytes(timeMs, lowWord, highWord))
      // Protobuf leaves zeros out.
      if ((lowWord | highWord) !== 0) {
        message.putByte(TAG.double)
        message.putDouble(lowWord, highWord)
      }
      message.putByte(TAG.time)
      message.putLongVarint(timeMs)
    }
    this.samples += count
  }

  finish(): Buffer {
    const packed = this.#snappy.pack(this.#message.bytes, this.#message.length)
    this.#message.length = 0
    this.samples = 0
    return packed
  }
}

function sampleBytes(timeMs: number, low: number, high: number): number {
  return ((low | high) === 0 ? 0 : 9) + 1 + longVarintBytes(timeMs)
}

function putText(message: MessageBytes, tag: number, text: Uint8Array): void {
  message.putByte(tag)
  message.putVarint(text.length)
  message.putBytes(text)
}
