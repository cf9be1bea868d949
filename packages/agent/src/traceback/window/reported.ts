import { type Batch, numberAt, type RecordType, viewsOf } from '@sonde/sdk'
import { type QuotaHolder, turn } from '@sonde/sdk/internal'
import type { RecentRing } from '../../pipeline/recent.ts'

/** Reported records of one source and type in a time span. */
export interface ReportedRecords extends Pick<Batch, 'type' | 'source' | 'origin' | 'symbols' | 'bytes' | 'count'> {
  /** Whether the rule of the event watches these records. */
  readonly isFirst: boolean
  /** Times of the first and the last record. Unit: nanoseconds since the Unix epoch. */
  readonly times: { readonly fromNs: bigint; readonly toNs: bigint }
}

/** A time span of reported records. */
export interface ReportedSpan {
  /** First and last nanosecond, by the wall clock. */
  readonly fromNs: bigint
  /** Undefined: the end is not known yet. */
  readonly toNs: bigint | undefined
  /**
   * Arrival times: records up to `sinceMs` were already returned; records after `untilMs` are returned the next time.
   */
  readonly sinceMs: number
  readonly untilMs: number
  /** Types that the rule watches, and their client; undefined for the agent's own sources. Their records come first. */
  readonly first: { readonly types: ReadonlySet<string>; readonly holder: QuotaHolder }
}

/** Types of the agent's own state, which have no lanes. */
const OWN = /^sonde_/
/** The source of the agent's own state. */
const SELF = 'self'

/**
 * Records in memory from a time span, grouped by source and type. The records are copies, so they stay valid. Yields to
 * the loop between two types.
 */
export async function* reportedIn(recent: RecentRing, stretch: ReportedSpan): AsyncGenerator<ReportedRecords> {
  const isOfRule = ({ name }: RecordType) => stretch.first.types.has(name)
  for (const type of recent.types().toSorted((a, b) => Number(isOfRule(b)) - Number(isOfRule(a)))) {
    if (OWN.test(type.name) || type.time === undefined) continue
    yield* copiedRecords(recent, type, stretch)
    if (turn.isOver()) await turn.next()
  }
}

/** Copies within one turn, because batches may be dropped in the next turn. */
function copiedRecords(recent: RecentRing, type: RecordType, stretch: ReportedSpan): ReportedRecords[] {
  const { fromNs, toNs, sinceMs, untilMs, first } = stretch
  const fromMs = Number(fromNs) / 1e6
  const toMs = toNs === undefined ? Number.POSITIVE_INFINITY : Number(toNs) / 1e6
  const bySource = new Map<object, { readonly batch: Batch; readonly pieces: Uint8Array[] }>()
  for (const batch of recent.batches(type)) {
    if (batch.arrivedMs <= sinceMs || batch.arrivedMs > untilMs || batch.source.id === SELF) continue
    if (batch.toMs < fromMs || batch.fromMs > toMs) continue
    const piece = within(batch, fromMs, toMs)
    if (piece.byteLength === 0) continue
    // Symbols belong to the source, so batches of one source and type are joined.
    const known = bySource.get(batch.source)
    if (known === undefined) bySource.set(batch.source, { batch, pieces: [piece] })
    else known.pieces.push(piece)
  }
  const copies = Array.from(bySource.values(), ({ batch: { source, origin, symbols, page }, pieces }) => {
    const bytes = new Uint8Array(Buffer.concat(pieces))
    const isFirst = first.types.has(type.name) && page?.client === first.holder
    const count = bytes.byteLength / type.layout.recordBytes
    return { type, source, origin, symbols, bytes, count, isFirst, times: recordTimes(type, bytes, count) }
  })
  return copies.sort((a, b) => Number(b.isFirst) - Number(a.isFirst))
}

function recordTimes(type: RecordType, bytes: Uint8Array, count: number): ReportedRecords['times'] {
  const { data } = viewsOf(bytes)
  const at = (index: number) => {
    const raw = data.getBigUint64(index * type.layout.recordBytes + (type.time?.offset ?? 0), true)
    return type.time?.field.resolution === 'us' ? raw * 1000n : raw
  }
  return { fromNs: at(0), toNs: at(count - 1) }
}

/** The records of a batch within a time span. */
function within(
  { type, bytes, count, fromMs: firstMs, toMs: lastMs }: Batch & { fromMs: number; toMs: number },
  fromMs: number,
  toMs: number,
): Uint8Array {
  if (firstMs >= fromMs && lastMs <= toMs) return bytes
  const { recordBytes } = type.layout
  const { time } = type
  if (time === undefined) return bytes
  const views = viewsOf(bytes.slice())
  const factor = time.field.resolution === 'us' ? 1e-3 : 1e-6
  const kept: Uint8Array[] = []
  for (let index = 0; index < count; index++) {
    const at = index * recordBytes
    const ms = numberAt(time, views, at) * factor
    if (ms >= fromMs && ms <= toMs) kept.push(views.bytes.subarray(at, at + recordBytes))
  }
  return Buffer.concat(kept)
}
