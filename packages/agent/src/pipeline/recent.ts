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
  type SourceInfo,
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

/** Part of the memory from which on records of clients make room for records of clients: nobody who reports a lot may take the agent's own sources out. */
const CLIENT_PART = 1 / 2

/**
 * The last minutes of everything, as the packed records they came as: what the live stream, the list of series and a bare agent's query form read. It is a window, not
 * a store: leaving it is no loss.
 */
export class RecentRing implements Sink, History {
  readonly name = 'recent'
  readonly stats = sinkStats()
  readonly #windowMs: number
  readonly #limitBytes: number
  /** By fingerprint; what clients of the service reported by `client` and fingerprint. */
  readonly #byType = new Map<string, KeptBatch[]>()
  readonly #slabs = new Slabs()
  readonly #retired = new WeakSet<SourceInfo>()
  #bytes = 0
  /** Part of it that clients of the service reported. */
  #clientBytes = 0
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
    this.#clientBytes = 0
  }

  /** Start of the window. Unit: milliseconds since the Unix epoch. */
  sinceMs(): number {
    return Date.now() - this.#windowMs
  }

  /** Types that have records in the window. */
  types(): RecordType[] {
    const types = new Map<string, RecordType>()
    for (const [first] of this.#byType.values()) if (first !== undefined) types.set(first.type.fingerprint, first.type)
    return [...types.values()]
  }

  /** Batches of a type, oldest first. */
  batches(type: RecordType): readonly KeptBatch[] {
    const own = this.#byType.get(type.fingerprint) ?? []
    const clients = this.#byType.get(keyOf(type, { isClient: true })) ?? []
    if (clients.length === 0 || own.length === 0) return own.length === 0 ? clients : own
    return [...own, ...clients].sort((a, b) => a.toMs - b.toMs)
  }

  /** What a source reported stays, and none of its series is live any more: its client left. */
  retire(source: SourceInfo): void {
    this.#retired.add(source)
  }

  /** Whether a source is no more. */
  isRetired(source: SourceInfo): boolean {
    return this.#retired.has(source)
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
    const key = keyOf(batch.type, { isClient: isOfClient(batch) })
    const list = this.#byType.get(key)
    if (list === undefined) this.#byType.set(key, [kept])
    else list.push(kept)
    this.#count(kept, 1)
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
    for (const [key, list] of this.#byType) {
      let old = 0
      while (old < list.length && (list[old] as KeptBatch).toMs < nowMs - this.#windowMs) old++
      this.#drop(key, list, old)
    }
    while (this.#bytes > this.#limitBytes) {
      const isClients = this.#clientBytes > this.#limitBytes * CLIENT_PART
      const [key, list] = [...this.#byType]
        .filter(([, [first]]) => !isClients || (first !== undefined && isOfClient(first)))
        .reduce((a, b) => ((a[1][0]?.toMs ?? 0) <= (b[1][0]?.toMs ?? 0) ? a : b))
      this.#drop(key, list, 1)
    }
  }

  #drop(key: string, list: KeptBatch[], count: number): void {
    if (count === 0) return
    for (const kept of list.splice(0, count)) {
      this.#count(kept, -1)
      this.#slabs.give(kept.piece)
    }
    if (list.length === 0) this.#byType.delete(key)
  }

  /** A batch comes, or leaves. */
  #count(kept: KeptBatch, sign: 1 | -1): void {
    this.#bytes += sign * kept.bytes.byteLength
    if (isOfClient(kept)) this.#clientBytes += sign * kept.bytes.byteLength
  }
}

function isOfClient({ page }: Batch): boolean {
  return page !== undefined
}

function keyOf({ fingerprint }: RecordType, { isClient }: { readonly isClient: boolean }): string {
  return isClient ? `client ${fingerprint}` : fingerprint
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
