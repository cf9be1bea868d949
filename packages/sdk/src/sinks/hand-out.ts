import type { Batch } from '../schema/batch.ts'
import { countDrop, type Sink } from './sink.ts'

/** The reason under which a batch is counted that a sink threw for. */
export const FAILED = 'failed'

/** Hands a batch to every sink. A sink that throws loses that batch, counted there as `failed`, and delays nobody; `onThrow` gets what it threw. */
export function handOut(batch: Batch, sinks: readonly Sink[], onThrow?: (sink: Sink, error: unknown) => void): void {
  for (const sink of sinks) {
    try {
      sink.accept(batch)
    } catch (error) {
      // A sink counts what it drops itself; this sink could not.
      sink.stats.errors++
      countDrop(sink.stats, FAILED, batch.count)
      onThrow?.(sink, error)
    }
  }
}
