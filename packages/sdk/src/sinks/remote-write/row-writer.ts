import { type HttpRequest, httpRequest } from '../../delivery/connection/http-client.ts'
import { turn } from '../../internal/turn.ts'
import type { NumberClass } from '../../wire/prometheus/lanes.ts'
import {
  addDouble,
  addInteger,
  addStale,
  roomForSamples,
  type Samples,
  sortedLabels,
} from '../../wire/remote-write/series.ts'
import type { Writer1 } from '../../wire/remote-write/version1.ts'
import type { Column } from './columns.ts'
import { ENDS, NO_ENTRY, type RequestRows } from './request-rows.ts'
import type { Row } from './rows.ts'

/** When a request ends. */
export interface RequestLimits {
  readonly samplesMax: number
  readonly bytesMax: number
}

/** Rows between two readings of the clock. */
const ROWS_A_STEP = 16

/** The labels that every series has if its record has no label of that name. */
export type ExternalLabels = readonly (readonly [name: string, value: string])[]

/** What the bodies of a request have in common. */
export interface BodyOptions {
  readonly external: ExternalLabels
  readonly limits: RequestLimits
  readonly headers: Readonly<Record<string, string>>
}

/** One body with its samples. */
export interface Body {
  readonly request: HttpRequest
  readonly samples: number
}

/** Writes the rows of a request into as many bodies as the limits of the receiver demand. */
export class RowWriter {
  readonly #request: RequestRows
  readonly #writer: Writer1
  readonly #options: BodyOptions
  /** Where the next body begins. */
  #place = 0
  #column = 0
  #lane = 0
  /** Whether the current column was read. */
  #isLoaded = false
  /** Samples of each lane of the current column. */
  #samples: readonly Samples[] = []
  #low = new Uint32Array(64)
  #high = new Uint32Array(64)

  constructor(request: RequestRows, writer: Writer1, options: BodyOptions) {
    this.#request = request
    this.#writer = writer
    this.#options = options
  }

  /** The next body; undefined if nothing is left. Takes several turns of the event loop if there is much to write. */
  async next(): Promise<Body | undefined> {
    const { rows } = this.#request
    const writer = this.#writer
    for (; this.#place < rows.length; this.#place++) {
      if (this.#place % ROWS_A_STEP === 0 && turn.isOver()) await turn.next()
      if (!this.#writeRow(rows[this.#place]!)) break
    }
    const { samples } = writer
    if (samples === 0) return undefined
    return { request: { ...httpRequest(writer.finish()), headers: this.#options.headers }, samples }
  }

  /** The writer, for another request. */
  release(): Writer1 {
    this.#writer.finish()
    return this.#writer
  }

  /** False if the body is full before the row ends. */
  #writeRow(row: Row): boolean {
    const { columns } = row.columns
    for (; this.#column < columns.length; this.#column++) {
      const column = columns[this.#column]!
      if (!this.#isLoaded) this.#load(row, column)
      this.#isLoaded = true
      for (; this.#lane < column.lanes.length; this.#lane++) {
        if (this.#isFull()) return false
        const samples = this.#samples[this.#lane]!
        if (samples.count > 0) this.#writer.series(this.#blockOf(row, column), samples)
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

  #blockOf(row: Row, { metric, lanes, labels, firstLane }: Column): Buffer {
    const at = firstLane + this.#lane
    const known = row.blocks[at]
    if (known !== undefined) return known
    const name = lanes[this.#lane]?.sample ?? metric.name
    const block = this.#writer.labels(sortedLabels(name, labels[this.#lane] ?? [], row.labels, this.#options.external))
    row.blocks[at] = block
    return block
  }

  /** Reads a column of all records of a row. A value that was there before and is absent now ends its series. */
  #load(row: Row, column: Column): void {
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
    for (let entry = heads[this.#place]!; entry !== NO_ENTRY; entry = next[entry]!) {
      const offset = offsets[entry]!
      const timeMs = timesMs[entry]!
      const present = offset === ENDS ? 0 : load(views[entry]!.data, offset, low, high)
      for (let lane = 0; lane < present; lane++) {
        add(all[lane]!, timeMs, low[lane]!, high[lane]!, lanes[lane]!.numbers)
        row.live[firstLane + lane] = 1
      }
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

function add(samples: Samples, timeMs: number, low: number, high: number, numbers: NumberClass): void {
  if (numbers === 'float') addDouble(samples, timeMs, low, high)
  else addInteger(samples, timeMs, low, high, numbers === 'signed')
}
