import { type Batch, countDrop, type Sink } from '@sonde/sdk'

/**
 * Hands every batch to every sink. A sink that throws loses that batch, counted at the sink as `failed`, and delays nobody.
 */
export class Router {
  /** Records that sources and clients handed in. */
  records = 0
  readonly #sinks: Sink[]

  constructor(sinks: readonly Sink[]) {
    this.#sinks = [...sinks]
  }

  get sinks(): readonly Sink[] {
    return this.#sinks
  }

  accept(batch: Batch): void {
    this.records += batch.count
    for (const sink of this.#sinks) {
      try {
        sink.accept(batch)
      } catch {
        // A sink counts what it drops itself; one that throws could not, so it is counted for it.
        sink.stats.errors++
        countDrop(sink.stats, 'failed', batch.count)
      }
    }
  }

  /** Flushes and closes all sinks; one that fails does not keep the others from closing. */
  async close(): Promise<readonly PromiseSettledResult<void>[]> {
    return Promise.allSettled(this.#sinks.map((sink) => sink.close()))
  }
}
