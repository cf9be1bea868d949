import { type RecordType, viewsOf } from '@sonde/sdk'
import { encoderOf } from '@sonde/sdk/internal'
import { sampleFieldOf } from '../doca-telemetry-diag/type.ts'
import type { NicPlace } from '../simulator/classes/node-class.ts'
import type { SampleRing, SourceContext } from '../source.ts'
import type { DiagColumn, Term } from './columns.ts'
import type { Moments, NicStretch } from './nic-stretch.ts'

const WORD = 2 ** 32
const NS_PER_S = 1_000_000_000
/** Time, ticks, stamp, device and number of the sample; the values follow. Unit: words of 32 bits. */
const HEADER_WORDS = 8

/** Times of the first moment. */
export interface FirstMoment {
  /** By the host's monotonic clock. Unit: nanoseconds. */
  readonly monoNs: bigint
  /** By the clock of the NIC, since the Unix epoch. Unit: nanoseconds. */
  readonly deviceNs: bigint
}

/** Parts of {@link NicSamples}. */
export interface NicSamplesParts {
  readonly nic: NicPlace
  readonly type: RecordType
  readonly ids: readonly bigint[]
  readonly columns: readonly DiagColumn[]
  /** Shared by all NICs, because they are sampled one after the other. */
  readonly stretch: NicStretch
  readonly sums: Sums
  /** Most samples of one call. */
  readonly capacity: number
  /** Capacity of the ring. */
  readonly ringSamples: number
}

/** The two words of a sum at each moment; carries are not yet applied. */
export interface Sums {
  readonly low: Float64Array
  readonly high: Float64Array
}

/** Samples of one NIC. They are built column by column as packed records in a ring of the host. */
export class NicSamples {
  readonly nic: NicPlace
  readonly #parts: NicSamplesParts
  readonly #ring: SampleRing
  readonly #recordBytes: number
  readonly #records: Uint8Array
  readonly #words: Uint32Array
  /** The values of the newest sample. Later values are never lower, whatever happens to the node. */
  readonly #low: Uint32Array
  readonly #high: Uint32Array
  #lastMonoNs = 0n

  constructor(parts: NicSamplesParts, context: SourceContext) {
    const { nic, type, ids, capacity, ringSamples } = parts
    this.nic = nic
    this.#parts = parts
    this.#ring = context.sampled(type, nic.device, ringSamples)
    this.#recordBytes = type.layout.recordBytes
    this.#records = new Uint8Array(capacity * this.#recordBytes)
    this.#words = new Uint32Array(this.#records.buffer)
    this.#low = new Uint32Array(ids.length)
    this.#high = new Uint32Array(ids.length)
    const encode = encoderOf(type, context.source.symbols)
    const values = Object.fromEntries(ids.map((id) => [sampleFieldOf(id), 0]))
    const record = { time: 0, device_ticks: 0, stamp: 0, rdma_device: nic.device, sample: 0, ...values } as never
    const views = viewsOf(this.#records)
    for (let at = 0; at < capacity; at++) encode(record, views, at * this.#recordBytes)
  }

  /** Builds samples and puts them into the ring. */
  make(moments: Moments, start: FirstMoment): void {
    const { stretch, columns } = this.#parts
    const { count, periodNs } = moments
    const stride = this.#recordBytes >>> 2
    stretch.read(this.nic, moments)
    this.#writeTimes(moments, start)
    columns.forEach((column, at) => {
      const to = HEADER_WORDS + 2 * at
      this.#writeColumn(column, to, count, stride)
      if (column.kind === 'count' || column.kind === 'time') this.#hold(at, to, count, stride)
      this.#low[at] = this.#words[to + (count - 1) * stride] as number
      this.#high[at] = this.#words[to + 1 + (count - 1) * stride] as number
    })
    const lastNs = start.monoNs + BigInt((count - 1) * periodNs)
    if (lastNs > this.#lastMonoNs) this.#lastMonoNs = lastNs
    this.#ring.put(this.#records.subarray(0, count * this.#recordBytes))
  }

  #writeTimes({ first, count, periodNs }: Moments, { monoNs, deviceNs }: FirstMoment): void {
    // A ring is ordered by time, even after a small jump of the node's clock.
    const leastNs = Math.max(0, Number(this.#lastMonoNs - monoNs))
    const words = this.#words
    const [monoHigh, monoLow] = wordsOf(monoNs)
    const [ticksHigh, ticksLow] = wordsOf(deviceNs)
    const second = Number(deviceNs / BigInt(NS_PER_S))
    const inSecondNs = Number(deviceNs % BigInt(NS_PER_S))
    const stride = this.#recordBytes >>> 2
    for (let index = 0, word = 0; index < count; index++, word += stride) {
      const elapsedNs = index * periodNs
      const mono = monoLow + Math.max(leastNs, elapsedNs)
      const ticks = ticksLow + elapsedNs
      const ns = inSecondNs + elapsedNs
      const seconds = Math.floor(ns / NS_PER_S)
      words[word] = mono
      words[word + 1] = monoHigh + Math.floor(mono / WORD)
      words[word + 2] = ticks
      words[word + 3] = ticksHigh + Math.floor(ticks / WORD)
      words[word + 4] = ns - seconds * NS_PER_S
      words[word + 5] = second + seconds
      words[word + 7] = first + index
    }
  }

  /** Holds a counter until it exceeds its last sample. A source that learns of a scenario late may be ahead. */
  #hold(at: number, to: number, count: number, stride: number): void {
    const words = this.#words
    const [low, high] = [this.#low[at] as number, this.#high[at] as number]
    for (let index = 0, word = to; index < count; index++, word += stride) {
      const own = words[word + 1] as number
      if (own > high || (own === high && (words[word] as number) >= low)) return
      words[word] = low
      words[word + 1] = high
    }
  }

  #writeColumn(column: DiagColumn, to: number, count: number, stride: number): void {
    const { stretch, sums } = this.#parts
    const words = this.#words
    if (column.kind === 'constant') {
      for (let index = 0, word = to; index < count; index++, word += stride) words[word] = column.value
      return
    }
    if (column.kind === 'read_latency_max') {
      const { readLatencyMaxNs } = stretch
      for (let index = 0, word = to; index < count; index++, word += stride)
        words[word] = readLatencyMaxNs[index] as number
      return
    }
    sums.low.fill(0, 0, count)
    sums.high.fill(0, 0, count)
    if (column.kind === 'time') addNs(sums, stretch.of(column.number), column.nsPerS, count)
    else for (const [number, factor] of column.terms as readonly Term[]) add(sums, stretch.of(number), factor, count)
    writeSums(words, to, stride, sums, count)
  }
}

/** Adds whole numbers times a whole factor in two words; a large counter may not fit a double. */
function add({ low, high }: Sums, row: Float64Array, factor: number, count: number): void {
  for (let index = 0; index < count; index++) {
    const value = row[index] as number
    const top = Math.floor(value / WORD)
    high[index] = (high[index] as number) + top * factor
    low[index] = (low[index] as number) + (value - top * WORD) * factor
  }
}

function addNs({ low, high }: Sums, row: Float64Array, nsPerS: number, count: number): void {
  for (let index = 0; index < count; index++) {
    const ns = Math.floor((row[index] as number) * nsPerS)
    const top = Math.floor(ns / WORD)
    high[index] = top
    low[index] = ns - top * WORD
  }
}

function writeSums(words: Uint32Array, to: number, stride: number, { low, high }: Sums, count: number): void {
  for (let index = 0, word = to; index < count; index++, word += stride) {
    const sum = low[index] as number
    const carry = Math.floor(sum / WORD)
    words[word] = sum - carry * WORD
    words[word + 1] = (high[index] as number) + carry
  }
}

/** The two words of a u64. */
function wordsOf(value: bigint): readonly [high: number, low: number] {
  return [Number(value >> 32n), Number(value & 0xffff_ffffn)]
}
