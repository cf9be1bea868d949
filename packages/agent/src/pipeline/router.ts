import type { Batch, Sink, SourceInfo } from '@sonde/sdk'
import { type HandOut, handOut, LateFailures, type Route } from '@sonde/sdk/internal'
import type { Logger } from 'pino'

/** Passes every batch to every sink, filtered by its route, and counts the records. */
export class Router implements HandOut {
  /** Records that sources and clients handed in. */
  records = 0
  readonly routes: readonly Route[]
  readonly #blocking: readonly Route[]
  readonly #log: Pick<Logger, 'error'>
  readonly #late = new LateFailures()
  /** Sinks whose failure is in the log. */
  readonly #logged = new Set<Sink>()

  constructor(routes: readonly Route[], log: Pick<Logger, 'error'>) {
    this.routes = routes
    this.#blocking = routes.filter(({ blocks }) => blocks)
    this.#log = log
  }

  get sinks(): readonly Sink[] {
    return this.routes.map(({ sink }) => sink)
  }

  accept(batch: Batch): void {
    this.records += batch.count
    handOut(batch, this)
  }

  /**
   * Resolves when a full destination with the policy `block`, to which records of this source go, has room; undefined
   * if all have room. After it has resolved, another destination may be full.
   */
  room(source: SourceInfo): Promise<void> | undefined {
    for (const route of this.#blocking) {
      const room = route.admits(source) ? route.sink.ready?.() : undefined
      if (room !== undefined) return room
    }
    return undefined
  }

  /** Pending promises of sinks, which the router does not wait for. */
  lateOf(): LateFailures {
    return this.#late
  }

  /** Logs an error of a sink, once for each sink. */
  failed(sink: Sink, error: unknown): void {
    if (this.#logged.has(sink)) return
    this.#logged.add(sink)
    this.#log.error(
      { sink: sink.name, reason: 'failed', error },
      'a sink threw, and lost a batch; its drops count more',
    )
  }

  /** Flushes and closes all sinks within the limit; one that fails does not keep the others from closing. */
  async close(limitMs?: number): Promise<readonly PromiseSettledResult<void>[]> {
    return Promise.allSettled(this.sinks.map((sink) => sink.close(limitMs)))
  }
}
