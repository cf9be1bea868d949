import type { Batch } from '../schema/batch.ts'
import type { RefusedRecords } from './sender.ts'

/** Refused records with the words of the peer. */
export interface RefusedPart {
  readonly reason: string
  /** The records, as parts of the batches with these indexes. */
  readonly pieces: readonly RefusedPiece[]
}

/** Consecutive refused records of a batch. */
export interface RefusedPiece {
  /** Index of the batch in the request. */
  readonly index: number
  readonly batch: Batch
}

/**
 * The refused records of a request, by reason; each record once. Indexes that the request does not have are ignored: a
 * peer can refuse only what it was sent. Pure.
 */
export function refusalsOf(batches: readonly Batch[], refused: readonly RefusedRecords[]): readonly RefusedPart[] {
  const byReason = new Map<string, RefusedPiece[]>()
  const seen = batches.map(() => new Set<number>())
  for (const { batch: index, records, reason } of refused) {
    const [batch, known] = [batches[index], seen[index]]
    if (batch === undefined || known === undefined) continue
    const wanted = records ?? Array.from({ length: batch.count }, (_, record) => record)
    const fresh = wanted.filter((record) => isIndex(record, batch.count) && !known.has(record))
    for (const record of fresh) known.add(record)
    const pieces = runsIn(fresh).map(([from, to]) => ({ index, batch: pieceOf(batch, from, to) }))
    byReason.set(reason, [...(byReason.get(reason) ?? []), ...pieces])
  }
  return [...byReason].flatMap(([reason, pieces]) => (pieces.length === 0 ? [] : [{ reason, pieces }]))
}

function isIndex(record: number, count: number): boolean {
  return Number.isInteger(record) && record >= 0 && record < count
}

/** Joins indexes to runs, from the first to behind the last. */
function runsIn(records: readonly number[]): [from: number, to: number][] {
  const runs: [number, number][] = []
  for (const record of [...new Set(records)].sort((a, b) => a - b)) {
    const run = runs.at(-1)
    if (run?.[1] === record) run[1]++
    else runs.push([record, record + 1])
  }
  return runs
}

function pieceOf(batch: Batch, from: number, to: number): Batch {
  const { recordBytes } = batch.type.layout
  return { ...batch, count: to - from, bytes: batch.bytes.subarray(from * recordBytes, to * recordBytes) }
}
