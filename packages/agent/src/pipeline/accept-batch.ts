import { type Batch, countDrop, type SinkStats } from '@sonde/sdk'

/**
 * What every view of the agent does with a batch: counts it, refuses one that is cut short, and takes the time. `take`
 * gives the number of records that it dropped, under reasons of its own; a view that is closed gives none.
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
