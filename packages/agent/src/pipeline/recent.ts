import {
  answerRequest,
  type Batch,
  type Column,
  ColumnReader,
  type Found,
  type History,
  leadMs,
  matcherOf,
  msFactorOf,
  numberAt,
  periodOf,
  type QueryAnswer,
  type QueryRequest,
  type RecordType,
  type SeriesQuery,
  type Sink,
  sinkStats,
  slotsOfMetric,
  viewsOf,
} from '@sonde/sdk'
import { turn } from '@sonde/sdk/internal'
import { acceptBatch } from './accept-batch.ts'
import { type Piece, Slabs } from './slabs.ts'

/** Options of {@link RecentRing}. */
export interface RecentOptions {
  /** How far back it reaches. Unit: seconds. Range: 10 to 3600. Default: 300. */
  windowS?: number
  /** Memory for records; the oldest leave first. Unit: bytes. Default: 16 MiB. */
  limitBytes?: number
}

/** A kept batch with the time of its first and last record. Its bytes stand until the main loop has its next turn: then they may have left. */
export interface KeptBatch extends Batch {
  readonly fromMs: number
  readonly toMs: number
  readonly piece: Piece
}

/**
 * The last minutes of everything, as the packed records they came as: what the live stream, the list of series and a bare agent's query form read. It is a window, not
 * a store: leaving it is no loss.
 */
export class RecentRing implements Sink, History {
  readonly name = 'recent'
  readonly stats = sinkStats()
  readonly #windowMs: number
  readonly #limitBytes: number
  readonly #byType = new Map<string, KeptBatch[]>()
  readonly #slabs = new Slabs()
  #bytes = 0
  #closed = false

  constructor(options: RecentOptions = {}) {
    this.#windowMs = (options.windowS ?? 300) * 1000
    this.#limitBytes = options.limitBytes ?? 16 << 20
  }

  /** Memory used by records. Unit: bytes. */
  get bytes(): number {
    return this.#bytes
  }

  accept(batch: Batch): void {
    acceptBatch(this.stats, batch, this.#closed ? undefined : (batch) => this.#keep(batch))
  }

  async flush(): Promise<void> {
    // Memory is all there is: what was accepted is as durable as it gets.
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#byType.clear()
    this.#bytes = 0
  }

  /** Start of the window. Unit: milliseconds since the Unix epoch. */
  sinceMs(): number {
    return Date.now() - this.#windowMs
  }

  /** Types that have records in the window. */
  types(): RecordType[] {
    return [...this.#byType.values()].flatMap((list) => (list[0] === undefined ? [] : [list[0].type]))
  }

  /** Batches of a type, oldest first. */
  batches(type: RecordType): readonly KeptBatch[] {
    return this.#byType.get(type.fingerprint) ?? []
  }

  async query(request: QueryRequest): Promise<QueryAnswer> {
    // Many clients may ask at once, as when all of them resume, and one answer may fill a turn.
    while (turn.isOver()) await turn.next()
    return this.queryNow(request)
  }

  /** The same without a promise: the live stream asks once a step. */
  queryNow(request: QueryRequest): QueryAnswer {
    const { fromMs, toMs, stepMs } = request
    return answerRequest(request, (query) => this.#find(query, fromMs, toMs, stepMs))
  }

  /** Has room for everything: what is older makes it. */
  #keep(batch: Batch): number {
    if (batch.count === 0) return 0
    const kept = keep(batch, this.#slabs.take(batch.bytes.byteLength))
    const list = this.#byType.get(batch.type.fingerprint)
    if (list === undefined) this.#byType.set(batch.type.fingerprint, [kept])
    else list.push(kept)
    this.#bytes += kept.bytes.byteLength
    this.#evict(kept.toMs)
    return 0
  }

  #find(query: SeriesQuery, fromMs: number, toMs: number, stepMs: number): Found[] {
    const matches = matcherOf(query.matchers)
    return this.types().flatMap((type) =>
      slotsOfMetric(type, query.metric).map((slot): Found => {
        const batches = this.batches(type)
        const last = batches.at(-1)
        const startMs = fromMs - leadMs(stepMs, periodOf(type, last?.source.intervalMs ?? 0))
        const reader = new ColumnReader(type, slot, matches)
        for (const batch of batches) if (batch.toMs > startMs && batch.fromMs <= toMs) reader.push(batch, startMs, toMs)
        const columns: Column[] = reader.take()
        return { type, slot, clock: last?.clock ?? 'wall', columns }
      }),
    )
  }

  /** Takes out what is older than the window, then the oldest of all while memory is over its limit. */
  #evict(nowMs: number): void {
    for (const [fingerprint, list] of this.#byType) {
      let old = 0
      while (old < list.length && (list[old] as KeptBatch).toMs < nowMs - this.#windowMs) old++
      this.#drop(fingerprint, list, old)
    }
    while (this.#bytes > this.#limitBytes) {
      const [fingerprint, list] = [...this.#byType].reduce((a, b) =>
        (a[1][0]?.toMs ?? 0) <= (b[1][0]?.toMs ?? 0) ? a : b,
      )
      this.#drop(fingerprint, list, 1)
    }
  }

  #drop(fingerprint: string, list: KeptBatch[], count: number): void {
    for (const { bytes, piece } of list.splice(0, count)) {
      this.#bytes -= bytes.byteLength
      this.#slabs.give(piece)
    }
    if (list.length === 0) this.#byType.delete(fingerprint)
  }
}

function keep(batch: Batch, piece: Piece): KeptBatch {
  const { bytes } = piece
  bytes.set(batch.bytes)
  const { time, layout } = batch.type
  if (time === undefined) return { ...batch, bytes, piece, fromMs: Date.now(), toMs: Date.now() }
  const views = viewsOf(bytes)
  const factor = msFactorOf(batch.type)
  const fromMs = numberAt(time, views, 0) * factor
  const toMs = numberAt(time, views, (batch.count - 1) * layout.recordBytes) * factor
  return { ...batch, bytes, piece, fromMs, toMs: Math.max(fromMs, toMs) }
}
