import type { Batch, Sink } from '@sonde/sdk'
import { type HandOut, handOut, LateFailures, type Route } from '@sonde/sdk/internal'
import type { Logger } from 'pino'

/** Hands every batch to every sink, or what its route lets pass of it, and counts its records. */
export class Router implements HandOut {
  /** Records that sources and clients handed in. */
  records = 0
  readonly routes: readonly Route[]
  readonly #log: Pick<Logger, 'error'>
  readonly #late = new LateFailures()
  /** Sinks of which the log has said that they fail. */
  readonly #told = new Set<Sink>()

  constructor(routes: readonly Route[], log: Pick<Logger, 'error'>) {
    this.routes = routes
    this.#log = log
  }

  get sinks(): readonly Sink[] {
    return this.routes.map(({ sink }) => sink)
  }

  accept(batch: Batch): void {
    this.records += batch.count
    handOut(batch, this)
  }

  /** What sinks promised: nobody waits for it here. */
  lateOf(): LateFailures {
    return this.#late
  }

  /** A sink threw: a line in the log, once a sink. */
  failed(sink: Sink, error: unknown): void {
    if (this.#told.has(sink)) return
    this.#told.add(sink)
    this.#log.error(
      { sink: sink.name, reason: 'failed', error },
      'a sink threw, and lost a batch; its drops count more',
    )
  }

  /** Flushes and closes all sinks; one that fails does not keep the others from closing. */
  async close(): Promise<readonly PromiseSettledResult<void>[]> {
    return Promise.allSettled(this.sinks.map((sink) => sink.close()))
  }
}
