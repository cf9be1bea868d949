import type { Batch } from '../schema/batch.ts'
import type { LateFailures } from '../sink/late-failures.ts'
import { countDrop, FAILED, type Sink } from '../sink/sink.ts'
import type { Route } from './route.ts'

/** Who hands batches out. */
export interface HandOut {
  readonly routes: readonly Route[]
  /** What the sinks returned that is still under way. */
  lateOf(sink: Sink): LateFailures
  /** A sink threw, or rejected, and what; must not throw. */
  failed(sink: Sink, error: unknown): void
}

/**
 * Hands a batch to every sink, or what its route lets pass of it; a sink that is given nothing of a page is told so.
 * A sink that throws, or rejects, loses that batch, counted there as `failed`, and delays nobody.
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
