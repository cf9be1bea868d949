import type { Batch, Sink } from '@sonde/sdk'
import { handOut } from '@sonde/sdk/internal'

/** Stamps every batch with its arrival, hands it to every sink, and counts its records. */
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
    handOut({ ...batch, arrivedMs: performance.now() }, this.#sinks)
  }

  /** Flushes and closes all sinks; one that fails does not keep the others from closing. */
  async close(): Promise<readonly PromiseSettledResult<void>[]> {
    return Promise.allSettled(this.#sinks.map((sink) => sink.close()))
  }
}
