import { hashText } from '../internal/seeded-hash.ts'
import type { Batch, SourceInfo } from '../schema/batch.ts'
import type { RecordType } from '../schema/record-type.ts'
import { type Labels, labelsOf, seriesKey } from '../schema/series.ts'
import { SeriesIndex } from '../schema/series-index.ts'
import { type Views, viewsOf } from '../schema/views.ts'

/** Series that an index remembers at most; then it begins again. Forgetting costs time only. */
const SERIES_COUNT_LIMIT = 65_536

/** The shards of the series of one type and source. */
interface KnownSeries {
  index: SeriesIndex
  /** By the number of the series. */
  shards: number[]
}

/**
 * Distributes records among shards by a seeded hash of type and labels. All records of one series are in one shard, in
 * their order, whatever source, segment or version of the type they come from.
 */
export class Shards {
  readonly #count: number
  readonly #known = new WeakMap<SourceInfo, WeakMap<RecordType, KnownSeries>>()

  /** @param count Number of shards. Range: 1 to 64. */
  constructor(count: number) {
    this.#count = count
  }

  /**
   * The records of a batch by shard; undefined for a shard without any. If all are in one shard, it gets the batch
   * itself, otherwise copies.
   */
  split(batch: Batch): (Batch | undefined)[] {
    const { recordBytes } = batch.type.layout
    const pieces: (Batch | undefined)[] = Array.from({ length: this.#count })
    const shards = this.#shardsOf(batch)
    const counts = new Uint32Array(this.#count)
    for (const shard of shards) counts[shard] = (counts[shard] ?? 0) + 1
    const only = counts.indexOf(batch.count)
    if (only >= 0) {
      pieces[only] = batch
      return pieces
    }
    for (const [shard, count] of counts.entries())
      if (count > 0) pieces[shard] = { ...batch, count, bytes: new Uint8Array(count * recordBytes) }
    copyRuns(batch, shards, pieces)
    return pieces
  }

  /** The shard of each record. */
  #shardsOf(batch: Batch): Uint8Array {
    const { type, source, count } = batch
    const views = viewsOf(batch.bytes)
    const shards = new Uint8Array(count)
    const known = this.#knownOf(source, type)
    for (let record = 0; record < count; record++) {
      const offset = record * type.layout.recordBytes
      if (known.index.count >= SERIES_COUNT_LIMIT) Object.assign(known, noSeries(type))
      const series = known.index.of(views, offset)
      known.shards[series] ??= this.#shardOf(type, source, views, offset)
      shards[record] = known.shards[series]
    }
    return shards
  }

  #knownOf(source: SourceInfo, type: RecordType): KnownSeries {
    const types = this.#known.get(source) ?? new WeakMap<RecordType, KnownSeries>()
    this.#known.set(source, types)
    const known = types.get(type) ?? noSeries(type)
    types.set(type, known)
    return known
  }

  #shardOf(type: RecordType, source: SourceInfo, views: Views, offset: number): number {
    const key = `${type.name}{${seriesKey(inOrder(labelsOf(type, source, views, offset)))}}`
    return (hashText(key) >>> 0) % this.#count
  }
}

function noSeries(type: RecordType): KnownSeries {
  return { index: new SeriesIndex(type), shards: [] }
}

/** Labels by name, without empty ones: versions of a type may differ in both. */
function inOrder(labels: Labels): Labels {
  const named = Object.entries(labels).filter(([, text]) => text !== '')
  return Object.fromEntries(named.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Copies consecutive records of one shard at once. */
function copyRuns({ type, bytes }: Batch, shards: Uint8Array, pieces: readonly (Batch | undefined)[]): void {
  const { recordBytes } = type.layout
  const ends = pieces.map(() => 0)
  for (let from = 0, to = 0; from < shards.length; from = to) {
    const shard = shards[from] ?? 0
    while (to < shards.length && shards[to] === shard) to++
    pieces[shard]?.bytes.set(bytes.subarray(from * recordBytes, to * recordBytes), ends[shard])
    ends[shard] = (ends[shard] ?? 0) + (to - from) * recordBytes
  }
}
