import type { Sink, Source } from '@sonde/sdk'
import { type Route, reportSink, sinkDropCause } from '@sonde/sdk/internal'
import type { Logger } from 'pino'

/**
 * A sink that failed is well again once it has not for so long: on a disk that is full some writes still fit. Unit:
 * milliseconds.
 */
const WELL_AFTER_MS = 10_000

/**
 * How sinks fare: in `/metrics`, and in the log a line when a sink starts to fail, when that is over, and when it drops
 * records for a reason for the first time.
 */
export class SinkHealth {
  readonly #log: Logger
  /** Sinks that fail, and when that was last seen. Unit: milliseconds since the process started. */
  readonly #failedMs = new Map<Sink, number>()
  /** By sink: reasons of drops that the log has. */
  readonly #logged = new Map<Sink, Set<string>>()

  constructor(log: Logger) {
    this.#log = log
  }

  /** Reports a sink as a record of a source. Called about once a second. */
  report(source: Source, { sink, failing }: Pick<Route, 'sink' | 'failing'>, nowMs = performance.now()): void {
    this.#logDrops(sink)
    if (failing !== undefined) this.#turn(sink, failing, nowMs)
    reportSink(source, sink, failing === undefined ? undefined : !this.#failedMs.has(sink))
  }

  /** The first drop of each reason that the sink has words for. */
  #logDrops(sink: Sink): void {
    const logged = this.#logged.get(sink) ?? new Set()
    if (sink.stats.dropped.size === logged.size) return
    this.#logged.set(sink, logged)
    for (const [reason, records] of sink.stats.dropped) {
      if (logged.has(reason)) continue
      logged.add(reason)
      const words = sinkDropCause(sink, reason)
      if (words !== '') this.#log.warn({ sink: sink.name, reason, records, words }, 'a sink drops records')
    }
  }

  #turn(sink: Sink, failing: string, nowMs: number): void {
    const failedMs = this.#failedMs.get(sink)
    const { name } = sink
    if (failing !== '') {
      this.#failedMs.set(sink, nowMs)
      if (failedMs === undefined) this.#log.warn({ sink: name, reason: failing }, 'a sink fails')
    } else if (failedMs !== undefined && nowMs - failedMs >= WELL_AFTER_MS) {
      this.#failedMs.delete(sink)
      this.#log.info({ sink: name }, 'a sink is well again')
    }
  }
}
