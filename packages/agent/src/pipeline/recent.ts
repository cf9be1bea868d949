import { type Batch, countDrop, type RecordType, type Sink, type SourceInfo, sinkStats } from '@sonde/sdk'
import {
  allSteps,
  answerInSteps,
  Candidates,
  ColumnReader,
  HiddenRecords,
  type History,
  leadMs,
  type MetricColumns,
  matcherOf,
  ownerOf,
  Periods,
  passesField,
  type QueryAnswer,
  type QueryRequest,
  SeriesBudget,
  type SeriesQuery,
  slotsOfMetric,
  turn,
} from '@sonde/sdk/internal'
import { acceptBatch } from './accept-batch.ts'
import { type KeptBatch, WriterShare } from './writer-share.ts'

/** Options of {@link RecentRing}. */
export interface RecentOptions {
  /** How far back it reaches. Unit: seconds. Range: 10 to 3600. Default: 300. */
  windowS?: number
  /** Memory for records; the oldest leave first. Unit: bytes. Default: 16 MiB. */
  limitBytes?: number
}

/** Part of the memory that all clients share; the agent's own sources have the rest at least. */
const CLIENT_PART = 1 / 2
/** Slab sizes for the agent's own records, and for those of one client. Unit: bytes. */
const OWN_SLAB_BYTES = 1 << 20
const CLIENT_SLAB_BYTES = 64 << 10
/** The reason for records whose times are of another clock than the wall clock. */
const UNTRANSLATED = 'untranslated'
/** Period of the removal of batches older than the window. Unit: milliseconds. */
const SWEEP_EVERY_MS = 1000

/**
 * The last minutes of everything, as the packed records they came as: what the live stream, the list of series and a
 * bare agent's query form read. It is a window, not a store: leaving it is no loss. Batches leave in the order of their
 * arrival, whatever the times in their records: a record's own time is data.
 */
export class RecentRing implements Sink, History {
  readonly name = 'recent'
  readonly stats = sinkStats()
  readonly #windowMs: number
  readonly #limitBytes: number
  readonly #own = new WriterShare(OWN_SLAB_BYTES)
  /** Those of clients that have batches in the window, by the id of the client. */
  readonly #clients = new Map<bigint, WriterShare>()
  /** Types that have batches in the window, by fingerprint, and how many they have. */
  readonly #types = new Map<string, { readonly type: RecordType; count: number }>()
  /** Owners of sources. */
  readonly #retired = new WeakSet<object>()
  readonly #hidden = new HiddenRecords()
  #clientBytes = 0
  #sweptMs = Number.NEGATIVE_INFINITY
  #closed = false
  /** How often sources report. */
  readonly periods = new Periods()

  constructor(options: RecentOptions = {}) {
    this.#windowMs = (options.windowS ?? 300) * 1000
    this.#limitBytes = options.limitBytes ?? 16 << 20
  }

  /** Memory used by records. Unit: bytes. */
  get bytes(): number {
    return this.#own.bytes + this.#clientBytes
  }

  accept(batch: Batch): void {
    acceptBatch(this.stats, batch, this.#closed ? undefined : (batch) => this.#keep(batch))
  }

  async flush(): Promise<void> {
    // Memory is all there is: what was accepted is as durable as it gets.
  }

  async close(): Promise<void> {
    this.#closed = true
    while (this.#drop(this.#own));
    for (const share of this.#clients.values()) while (this.#drop(share));
    this.#clients.clear()
  }

  takeHidden(client: bigint, upTo: bigint): ReadonlyMap<string, ReadonlyMap<bigint, number>> {
    return this.#hidden.take(client, upTo)
  }

  /** Start of the window. Unit: milliseconds since the Unix epoch. */
  sinceMs(): number {
    return Date.now() - this.#windowMs
  }

  /** Types that have records in the window. */
  types(): RecordType[] {
    return Array.from(this.#types.values(), ({ type }) => type)
  }

  /** Batches of a type in the order of their arrival. */
  batches(type: RecordType): readonly KeptBatch[] {
    const lists = [this.#own, ...this.#clients.values()].flatMap((share) =>
      share.has(type) ? [share.batches(type)] : [],
    )
    const [only = []] = lists
    return lists.length < 2 ? only : lists.flat().sort((a, b) => a.arrivedMs - b.arrivedMs)
  }

  /** The client of a source has left: its records stay, but its series are no longer live. */
  retire(source: SourceInfo): void {
    this.#retired.add(ownerOf(source))
  }

  /** Whether a source is no more. */
  isRetired(source: SourceInfo): boolean {
    return this.#retired.has(ownerOf(source))
  }

  async query(request: QueryRequest): Promise<QueryAnswer> {
    this.#checkCost(request)
    const steps = this.#answer(request)
    for (;;) {
      while (turn.isOver()) await turn.next()
      const step = steps.next()
      if (step.done === true) return step.value
    }
  }

  /** The same without a promise: the live stream asks once a step. */
  queryNow(request: QueryRequest): QueryAnswer {
    return allSteps(this.#answer(request))
  }

  #answer(request: QueryRequest): Generator<undefined, QueryAnswer> {
    const { fromMs, toMs, stepMs } = request
    return answerInSteps(request, (query) => this.#find(query, fromMs, toMs, stepMs))
  }

  /** Refuses before anything is read what would look through too many records. */
  #checkCost({ fromMs, toMs, stepMs, queries }: QueryRequest): void {
    const candidates = new Candidates()
    for (const query of queries) {
      let count = 0
      for (const { batches } of this.#batchesOf(query, fromMs, toMs, stepMs))
        for (const { batch } of batches) count += batch.count
      candidates.add(query.metric, count)
    }
    candidates.check()
  }

  /**
   * Adds a batch; older batches are removed if the memory is full. Batches with times of a device clock are dropped,
   * because only their reporter could convert them to the wall clock.
   */
  #keep(batch: Batch): number {
    const { arrivedMs, type, count } = batch
    if (count === 0) return 0
    if (batch.clock !== 'wall' && type.time !== undefined) {
      countDrop(this.stats, UNTRANSLATED, count)
      this.#hidden.add(UNTRANSLATED, count, batch)
      return count
    }
    this.periods.take(batch)
    const share = this.#shareOf(batch)
    const before = share.bytes
    share.add(batch)
    if (share !== this.#own) this.#clientBytes += share.bytes - before
    const known = this.#types.get(type.fingerprint)
    if (known === undefined) this.#types.set(type.fingerprint, { type, count: 1 })
    else known.count++
    this.#makeRoom()
    if (arrivedMs - this.#sweptMs >= SWEEP_EVERY_MS) this.#sweep(arrivedMs)
    return 0
  }

  #shareOf({ page }: Batch): WriterShare {
    if (page === undefined) return this.#own
    const known = this.#clients.get(page.client)
    if (known !== undefined) return known
    const share = new WriterShare(CLIENT_SLAB_BYTES)
    this.#clients.set(page.client, share)
    return share
  }

  /** A step is a batch, of which the largest takes some milliseconds. */
  *#find(query: SeriesQuery, fromMs: number, toMs: number, stepMs: number): Generator<undefined, MetricColumns[]> {
    const matches = matcherOf(query.matchers)
    const room = new SeriesBudget(query.metric)
    const found: MetricColumns[] = []
    for (const { type, slot, batches } of this.#batchesOf(query, fromMs, toMs, stepMs)) {
      const reader = new ColumnReader(type, slot, matches, this.periods, room)
      for (const { batch, startMs } of batches) {
        if (!batch.hasLeft) reader.push(batch, startMs, toMs)
        yield
      }
      found.push({ type, slot, clock: 'wall', series: reader.take() })
    }
    return found
  }

  /** The fields that bear a metric's name, and the batches that a window needs of them, each with where it starts. */
  *#batchesOf({ metric, matchers }: SeriesQuery, fromMs: number, toMs: number, stepMs: number) {
    for (const type of this.types()) {
      for (const slot of slotsOfMetric(type, metric)) {
        if (!passesField(slot, matchers)) continue
        const batches = this.batches(type).flatMap((batch) => {
          const startMs = fromMs - leadMs(stepMs, this.periods.longestOf(batch.source, type))
          return batch.toMs > startMs && batch.fromMs <= toMs ? [{ batch, startMs }] : []
        })
        yield { type, slot, batches }
      }
    }
  }

  /** While memory is over its limit, the oldest batch of whoever takes more than its part leaves. */
  #makeRoom(): void {
    while (this.bytes > this.#limitBytes) {
      const isClients = this.#clientBytes > this.#limitBytes * CLIENT_PART
      this.#drop((isClients ? this.#first() : undefined) ?? this.#own)
    }
  }

  /**
   * The client whose oldest batch is removed first: a client that has left, so that a restarted program with a new id
   * costs no other client memory; else the client with the most memory.
   */
  #first(): WriterShare | undefined {
    let largest: WriterShare | undefined
    for (const share of this.#clients.values()) {
      if (share.oldest !== undefined && this.isRetired(share.oldest.source)) return share
      if (largest === undefined || share.bytes > largest.bytes) largest = share
    }
    return largest
  }

  /** Removes batches older than the window, and clients without batches. */
  #sweep(nowMs: number): void {
    this.#sweptMs = nowMs
    const isOld = ({ oldest }: WriterShare) => oldest !== undefined && oldest.arrivedMs < nowMs - this.#windowMs
    while (isOld(this.#own)) this.#drop(this.#own)
    for (const [client, share] of this.#clients) {
      while (isOld(share)) this.#drop(share)
      if (share.oldest === undefined) this.#clients.delete(client)
    }
  }

  /** Takes the oldest batch of a share out; whether there was any. */
  #drop(share: WriterShare): boolean {
    const before = share.bytes
    const dropped = share.drop()
    if (dropped === undefined) return false
    if (share !== this.#own) this.#clientBytes -= before - share.bytes
    const { fingerprint } = dropped.type
    const known = this.#types.get(fingerprint)
    if (known !== undefined && --known.count === 0) this.#types.delete(fingerprint)
    return true
  }
}
