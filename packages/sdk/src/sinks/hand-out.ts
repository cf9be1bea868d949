import type { Batch } from '../schema/batch.ts'
import { countDrop, type Sink } from './sink.ts'

/** Hands a batch to every sink. One that throws loses that batch, counted at the sink as `failed`, and delays nobody. */
export function handOut(batch: Batch, sinks: readonly Sink[]): void {
  for (const sink of sinks) {
    try {
      sink.accept(batch)
    } catch {
      // A sink counts what it drops itself; one that throws could not, so it is counted for it.
      sink.stats.errors++
      countDrop(sink.stats, 'failed', batch.count)
    }
  }
}
