import type { InternedTexts } from './interned.ts'
import { longVarintBytes, MessageBytes, varintBytes } from './message.ts'
import {
  type EdgesHistogram,
  type MetricInfo,
  type SeriesSamples,
  type SeriesWriter,
  type SortedLabels,
  STALE,
} from './series.ts'
import { SnappyEncoder } from './snappy.ts'

/**
 * Tags of `io.prometheus.write.v2.Request`, Remote-Write 2.0 (rc.4): field number and wire type. A request has
 * `symbols` (4) and `timeseries` (5). These have `labels_refs` (1), `samples` (2), `histograms` (3), `metadata` (5).
 */
const TAG = {
  symbols: 0x22,
  series: 0x2a,
  labels: 0x0a,
  samples: 0x12,
  histograms: 0x1a,
  metadata: 0x2a,
  value: 0x09,
  time: 0x10,
  start: 0x18,
  type: 0x08,
  help: 0x18,
  unit: 0x20,
} as const

/** Tags of `Histogram`: `count_int` 1, `sum` 3, `schema` 4, spans 11, deltas 12, time 15, edges 16, start 17. */
const HISTOGRAM = {
  count: 0x08,
  sum: 0x19,
  schema: 0x20,
  spans: 0x5a,
  deltas: 0x62,
  time: 0x78,
  edges: [0x82, 0x01],
  start: [0x88, 0x01],
} as const
/** The schema of custom edges, −53, in zigzag form. */
const CUSTOM_EDGES = 105

const TYPES = { unknown: 0, counter: 1, gauge: 2, histogram: 3 } as const
/** Bytes of a sample at most, with tag and length. */
const SAMPLE_BYTES_MAX = 2 + 9 + 11 + 11

/** Writes `io.prometheus.write.v2.Request`. It is used for one request after the other. */
export class Writer2 implements SeriesWriter {
  samples = 0
  readonly #texts: InternedTexts
  readonly #message = new MessageBytes()
  readonly #whole = new MessageBytes()
  readonly #histogram = new MessageBytes()
  readonly #part = new MessageBytes()
  readonly #snappy = new SnappyEncoder()
  /** The symbols of this request: the place of each text, plus 1; 0 if it has none. */
  #places = new Uint32Array(1024)
  #symbols: number[] = []
  #symbolBytes = 0

  /** @param texts Shared by the writers of a destination. */
  constructor(texts: InternedTexts) {
    this.#texts = texts
  }

  get generation(): string {
    return `2.${this.#texts.generation}`
  }

  get bytes(): number {
    return this.#message.length + this.#symbolBytes
  }

  labels(labels: SortedLabels): Uint32Array {
    return Uint32Array.from(labels.flatMap(([name, value]) => [this.#texts.id(name), this.#texts.id(value)]))
  }

  series(labels: Uint32Array, metric: MetricInfo, { count, timesMs, low, high, startsMs }: SeriesSamples): void {
    let bodyBytes = 0
    for (let i = 0; i < count; i++) bodyBytes += 2 + sampleBytes(low[i]!, high[i]!, timesMs[i]!, startsMs[i]!)
    this.#head(labels, metric, bodyBytes, count * SAMPLE_BYTES_MAX)
    const message = this.#message
    for (let i = 0; i < count; i++) {
      const [timeMs, startMs, lowWord, highWord] = [timesMs[i]!, startsMs[i]!, low[i]!, high[i]!]
      message.putByte(TAG.samples)
      message.putByte(sampleBytes(lowWord, highWord, timeMs, startMs))
      if ((lowWord | highWord) !== 0) {
        message.putByte(TAG.value)
        message.putDouble(lowWord, highWord)
      }
      message.putByte(TAG.time)
      message.putLongVarint(timeMs)
      if (startMs === 0) continue
      message.putByte(TAG.start)
      message.putLongVarint(startMs)
    }
    this.samples += count
  }

  histograms(labels: Uint32Array, metric: MetricInfo, histograms: readonly EdgesHistogram[]): void {
    const all = this.#histogram
    all.length = 0
    for (const histogram of histograms) {
      const part = this.#part
      part.length = 0
      putHistogram(part, histogram)
      all.reserve(part.length + 6)
      all.putByte(TAG.histograms)
      all.putVarint(part.length)
      all.putBytes(part.bytes.subarray(0, part.length))
    }
    this.#head(labels, metric, all.length, all.length)
    this.#message.putBytes(all.bytes.subarray(0, all.length))
    this.samples += histograms.length
  }

  finish(): Buffer {
    const whole = this.#whole
    whole.length = 0
    whole.reserve(this.#symbolBytes + this.#message.length + 2)
    // The first symbol is the empty text.
    whole.putByte(TAG.symbols)
    whole.putByte(0)
    for (const id of this.#symbols) {
      const text = this.#texts.bytesOf(id)
      whole.putByte(TAG.symbols)
      whole.putVarint(text.length)
      whole.putBytes(text)
      this.#places[id] = 0
    }
    whole.putBytes(this.#message.bytes.subarray(0, this.#message.length))
    this.#symbols = []
    this.#symbolBytes = 0
    this.#message.length = 0
    this.samples = 0
    return this.#snappy.pack(whole.bytes, whole.length)
  }

  /** Begins a series: its labels, its metadata, and room for its body. */
  #head(labels: Uint32Array, { kind, help, unit }: MetricInfo, bodyBytes: number, room: number): void {
    let labelBytes = 0
    for (let i = 0; i < labels.length; i++) labelBytes += varintBytes(this.#placeOf(labels[i]!))
    const helpPlace = this.#placeOf(this.#texts.id(help))
    const unitPlace = unit === '' ? 0 : this.#placeOf(this.#texts.id(unit))
    const unitBytes = unitPlace === 0 ? 0 : 1 + varintBytes(unitPlace)
    const metadataBytes = 2 + 1 + varintBytes(helpPlace) + unitBytes
    const message = this.#message
    message.reserve(room + labelBytes + metadataBytes + 32)
    message.putByte(TAG.series)
    message.putVarint(1 + varintBytes(labelBytes) + labelBytes + 2 + metadataBytes + bodyBytes)
    message.putByte(TAG.labels)
    message.putVarint(labelBytes)
    for (let i = 0; i < labels.length; i++) message.putVarint(this.#places[labels[i]!]!)
    message.putByte(TAG.metadata)
    message.putByte(metadataBytes)
    message.putByte(TAG.type)
    message.putByte(TYPES[kind])
    message.putByte(TAG.help)
    message.putVarint(helpPlace)
    if (unitPlace === 0) return
    message.putByte(TAG.unit)
    message.putVarint(unitPlace)
  }

  #placeOf(id: number): number {
    if (id >= this.#places.length) {
      const places = new Uint32Array(Math.max(id + 1, this.#places.length * 2))
      places.set(this.#places)
      this.#places = places
    }
    const known = this.#places[id]!
    if (known !== 0) return known
    const place = this.#symbols.push(id)
    const { length } = this.#texts.bytesOf(id)
    this.#places[id] = place
    this.#symbolBytes += 1 + varintBytes(length) + length
    return place
  }
}

function sampleBytes(low: number, high: number, timeMs: number, startMs: number): number {
  const value = (low | high) === 0 ? 0 : 9
  return value + 1 + longVarintBytes(timeMs) + (startMs === 0 ? 0 : 1 + longVarintBytes(startMs))
}

const double = new Float64Array(1)
const words = new Uint32Array(double.buffer)

function putHistogram(part: MessageBytes, { timeMs, startMs, edges, cumulative, sum }: EdgesHistogram): void {
  part.reserve(64 + edges.length * 8 + cumulative.length * 10)
  const isStale = cumulative.length === 0
  double[0] = sum
  part.putByte(HISTOGRAM.count)
  part.putLongVarint(cumulative.at(-1) ?? 0)
  part.putByte(HISTOGRAM.sum)
  part.putDouble(isStale ? STALE.low : words[0]!, isStale ? STALE.high : words[1]!)
  part.putByte(HISTOGRAM.schema)
  part.putByte(CUSTOM_EDGES)
  if (!isStale) putBins(part, cumulative)
  part.putByte(HISTOGRAM.time)
  part.putLongVarint(timeMs)
  part.putByte(HISTOGRAM.edges[0])
  part.putByte(HISTOGRAM.edges[1])
  part.putVarint(edges.length * 8)
  for (const edge of edges) {
    double[0] = edge
    part.putDouble(words[0]!, words[1]!)
  }
  if (startMs === 0) return
  part.putByte(HISTOGRAM.start[0])
  part.putByte(HISTOGRAM.start[1])
  part.putLongVarint(startMs)
}

/** One span of all bins, and the difference of each count to the count before. */
function putBins(part: MessageBytes, cumulative: readonly number[]): void {
  const deltas: number[] = []
  let before = 0
  for (const [i, total] of cumulative.entries()) {
    const count = total - (cumulative[i - 1] ?? 0)
    const delta = count - before
    deltas.push(delta >= 0 ? delta * 2 : -delta * 2 - 1)
    before = count
  }
  part.putByte(HISTOGRAM.spans)
  part.putByte(1 + varintBytes(deltas.length))
  part.putByte(0x10)
  part.putVarint(deltas.length)
  part.putByte(HISTOGRAM.deltas)
  part.putVarint(deltas.reduce((sum, delta) => sum + longVarintBytes(delta), 0))
  for (const delta of deltas) part.putLongVarint(delta)
}
