import { type Batch, countDrop, type SinkStats } from '@sonde/sdk'

/**
 * The common part of all views of the agent: counts a batch, refuses incomplete bytes, and measures the time. `take`
 * returns the number of records that it dropped under its own reasons; a closed view has no `take`.
 */
export function acceptBatch(stats: SinkStats, batch: Batch, take: ((batch: Batch) => number) | undefined): void {
  const startedMs = performance.now()
  stats.in += batch.count
  if (take === undefined) countDrop(stats, 'closed', batch.count)
  else if (batch.bytes.byteLength !== batch.count * batch.type.layout.recordBytes) {
    stats.errors++
    countDrop(stats, 'wrong_size', batch.count)
  } else stats.out += batch.count - take(batch)
  stats.seconds += (performance.now() - startedMs) / 1000
}
