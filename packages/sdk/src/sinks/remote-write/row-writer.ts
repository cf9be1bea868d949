import { type HttpRequest, httpRequest } from '../../delivery/connection/http-client.ts'
import { turn } from '../../internal/turn.ts'
import type { NumberClass } from '../../wire/prometheus/lanes.ts'
import {
  addDouble,
  addInteger,
  addStale,
  type EncodedLabels,
  isStaleAt,
  roomForSamples,
  type SeriesSamples,
  type SeriesWriter,
  sortedLabels,
  valueAt,
} from '../../wire/remote-write/series.ts'
import { ENDS, NO_ENTRY, type RequestRows } from './request-rows.ts'
import type { SentMetric } from './sent-metrics.ts'
import type { SentRow } from './sent-row.ts'

/** When a request ends. */
export interface RequestLimits {
  readonly samplesMax: number
  readonly bytesMax: number
}

/** Series between two readings of the clock. */
const SERIES_A_STEP = 128
/** Memory of encoded labels at most; beyond, labels are encoded for each request. Unit: bytes. */
const ENCODED_BYTES_MAX = 128 << 20

/** The labels that every series has if its record has no label of that name. */
export type ExternalLabels = readonly (readonly [name: string, value: string])[]

/** What the bodies of a request have in common. */
export interface BodyOptions {
  readonly external: ExternalLabels
  readonly limits: RequestLimits
  readonly budget: EncodedBudget
  readonly headers: Readonly<Record<string, string>>
  /** Whether samples of counters have the time of their start. */
  readonly hasStart: boolean
  /** Whether histograms are native. */
  readonly isNative: boolean
}

/** Memory of the encoded labels of all rows. Unit: bytes. */
export class EncodedBudget {
  bytes = 0
  readonly #bytesMax: number

  constructor(bytesMax: number = ENCODED_BYTES_MAX) {
    this.#bytesMax = bytesMax
  }

  /** Whether encoded labels should be forgotten, so that those of the present series have room. */
  get isFull(): boolean {
    return this.bytes >= this.#bytesMax
  }
}

/** One body with its samples. */
export interface Body {
  readonly request: HttpRequest
  readonly samples: number
}

/** Writes the rows of a request into as many bodies as the limits of the receiver demand. */
export class RowWriter {
  readonly #request: RequestRows
  readonly #writer: SeriesWriter
  readonly #options: BodyOptions
  /** Where the next body begins. */
  #place = 0
  #column = 0
  #lane = 0
  /** Series since the last look at the clock. */
  #series = 0
  /** Whether the current column was read. */
  #isLoaded = false
  /** Samples of each lane of the current column. */
  #samples: readonly SeriesSamples[] = []
  #low = new Uint32Array(64)
  #high = new Uint32Array(64)

  constructor(request: RequestRows, writer: SeriesWriter, options: BodyOptions) {
    this.#request = request
    this.#writer = writer
    this.#options = options
  }

  /** The next body; undefined if nothing is left. Takes several turns of the event loop if there is much to write. */
  async next(): Promise<Body | undefined> {
    const { rows } = this.#request
    const writer = this.#writer
    while (this.#place < rows.length && !this.#isFull()) {
      if (this.#writeRow(rows[this.#place]!)) this.#place++
      if (this.#series < SERIES_A_STEP) continue
      this.#series = 0
      if (turn.isOver()) await turn.next()
    }
    const { samples } = writer
    if (samples === 0) return undefined
    return { request: { ...httpRequest(writer.finish()), headers: this.#options.headers }, samples }
  }

  /** The writer, for another request. */
  release(): SeriesWriter {
    this.#writer.finish()
    return this.#writer
  }

  /** False if the row is continued: in the next body, or after a look at the clock. */
  #writeRow(row: SentRow): boolean {
    const { metrics } = row.columns
    for (; this.#column < metrics.length; this.#column++) {
      const column = metrics[this.#column]!
      if (!this.#isLoaded) this.#load(row, column)
      this.#isLoaded = true
      if (this.#isFull() || this.#series >= SERIES_A_STEP) return false
      const isNative = this.#lane === 0 && this.#writeHistograms(row, column)
      for (; !isNative && this.#lane < column.lanes.length; this.#lane++) {
        if (this.#isFull() || this.#series >= SERIES_A_STEP) return false
        this.#series++
        const samples = this.#samples[this.#lane]!
        if (samples.count > 0) this.#writer.series(this.#encodedOf(row, column), column.metric, samples)
      }
      this.#lane = 0
      this.#isLoaded = false
    }
    this.#column = 0
    return true
  }

  #isFull(): boolean {
    const { samples, bytes } = this.#writer
    const { limits } = this.#options
    return samples >= limits.samplesMax || bytes >= limits.bytesMax
  }

  /** Writes a histogram as native histograms with custom edges. False if it is written as series of its bins. */
  #writeHistograms(row: SentRow, column: SentMetric): boolean {
    const { edges, metric } = column
    const [first] = this.#samples
    if (!this.#options.isNative || edges === undefined || first === undefined) return false
    const sums = this.#samples[edges.length + 2]!
    // A record without its sum has series of its bins.
    if (sums.count !== first.count) return false
    if (first.count === 0) return true
    const histograms = Array.from({ length: first.count }, (_, i) => {
      const bins = isStaleAt(first, i) ? [] : this.#samples.slice(0, edges.length + 1)
      const cumulative = bins.map((samples) => valueAt(samples, i))
      return { timeMs: first.timesMs[i]!, startMs: first.startsMs[i]!, edges, cumulative, sum: valueAt(sums, i) }
    })
    this.#writer.histograms?.(this.#encodedOf(row, column, metric.name), metric, histograms)
    return true
  }

  /** The encoded labels of the current lane. `name`: the series has that name, and no label of the lane. */
  #encodedOf(row: SentRow, { metric, lanes, labels, firstLane }: SentMetric, name?: string): EncodedLabels {
    const writer = this.#writer
    if (row.generation !== writer.generation) {
      row.generation = writer.generation
      row.encoded.fill(undefined)
    }
    const at = firstLane + this.#lane
    const known = row.encoded[at]
    if (known !== undefined) return known
    const { sample } = lanes[this.#lane] ?? { sample: metric.name }
    const ofLane = (labels[this.#lane] ?? []).filter(([label]) => name === undefined || label !== 'le')
    const encoded = writer.labels(sortedLabels(name ?? sample, ofLane, row.labels, this.#options.external))
    const { budget } = this.#options
    if (budget.isFull) return encoded
    budget.bytes += encoded.byteLength
    row.encoded[at] = encoded
    return encoded
  }

  /**
   * Reads a column of all records of a row. A value that was there before and is absent now ends its series. A metric
   * that another type has is absent.
   */
  #load(row: SentRow, column: SentMetric): void {
    const { load, lanes, firstLane } = column
    const { views, offsets, timesMs, next, heads } = this.#request
    if (lanes.length > this.#low.length) {
      this.#low = new Uint32Array(lanes.length * 2)
      this.#high = new Uint32Array(lanes.length * 2)
    }
    const low = this.#low
    const high = this.#high
    this.#clear(lanes.length)
    const all = this.#samples
    const isCounter = this.#options.hasStart && (column.metric.kind === 'counter' || column.metric.kind === 'histogram')
    const isSent = column.isNamed && row.hidden?.has(column) !== true
    let beforeMs = this.#request.beforeMs(this.#place)
    for (let entry = heads[this.#place]!; entry !== NO_ENTRY; entry = next[entry]!) {
      const offset = offsets[entry]!
      const timeMs = timesMs[entry]!
      const present = offset === ENDS || !isSent ? 0 : load(views[entry]!.data, offset, low, high)
      for (let lane = 0; lane < present; lane++) {
        add(all[lane]!, timeMs, low[lane]!, high[lane]!, lanes[lane]!.numbers)
        row.live[firstLane + lane] = 1
        if (isCounter) noteCount(row, firstLane + lane, all[lane]!, beforeMs)
      }
      beforeMs = timeMs
      for (let lane = present; lane < lanes.length; lane++) {
        if (row.live[firstLane + lane] === 0) continue
        row.live[firstLane + lane] = 0
        this.#request.noteEnd(row, firstLane + lane)
        addStale(all[lane]!, timeMs)
      }
    }
  }

  #clear(count: number): void {
    if (this.#samples.length < count)
      this.#samples = Array.from({ length: count }, (_, lane) => this.#samples[lane] ?? roomForSamples(4))
    for (let lane = 0; lane < count; lane++) this.#samples[lane]!.count = 0
  }
}

function add(samples: SeriesSamples, timeMs: number, low: number, high: number, numbers: NumberClass): void {
  if (numbers === 'float') addDouble(samples, timeMs, low, high)
  else addInteger(samples, timeMs, low, high, numbers === 'signed')
}

/**
 * A counter that has fallen was 0 after the sample before. Before its first fall nothing is known about its start: a
 * time that is guessed would show as a rate.
 */
function noteCount(row: SentRow, lane: number, samples: SeriesSamples, beforeMs: number): void {
  const at = samples.count - 1
  const value = valueAt(samples, at)
  if (value < row.counts[lane]!) row.startsMs[lane] = beforeMs
  row.counts[lane] = value
  samples.startsMs[at] = row.startsMs[lane]!
}
