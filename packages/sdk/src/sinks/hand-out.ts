import type { Batch } from '../schema/batch.ts'
import type { LateFailures } from '../sink/late-failures.ts'
import { countDrop, FAILED, type Sink } from '../sink/sink.ts'
import type { Route } from './route.ts'

/** Who hands batches out. */
export interface HandOut {
  readonly routes: readonly Route[]
  /** Pending promises of the sinks. */
  lateOf(sink: Sink): LateFailures
  /** Called with the error of a sink that threw or rejected; must not throw. */
  failed(sink: Sink, error: unknown): void
}

/**
 * Passes a batch to every sink, filtered by its route; notifies a sink of a page without any record for it. A sink that
 * throws or rejects loses the batch, which counts there as `failed`, and delays no other sink.
 */
export function handOut(batch: Batch, to: HandOut): void {
  const { count } = batch
  for (const route of to.routes) {
    const { sink } = route
    const fail = (error: unknown) => {
      // A sink counts what it drops itself; this sink could not.
      sink.stats.errors++
      countDrop(sink.stats, FAILED, count)
      to.failed(sink, error)
    }
    try {
      const passed = route.pass(batch)
      if (passed === undefined) {
        if (batch.page !== undefined) sink.skip?.(batch.page)
        continue
      }
      const returned: unknown = sink.accept(passed)
      if (returned !== undefined) to.lateOf(sink).watch(returned, fail)
    } catch (error) {
      fail(error)
    }
  }
}
