import { turn } from '../../internal/turn.ts'
import type { RecordType } from '../../schema/record-type.ts'
import { wallNs } from '../../source/clock.ts'
import type { Source } from '../../source/source.ts'
import type { MetricsConfig } from './options.ts'

/** The parts of a metric that sampling uses. */
export interface Sampled {
  readonly type: RecordType
  /** Whether it may be sampled again; counts as sampled then. */
  takeTurn(nowMs: number): boolean
}

/**
 * Samples the metrics of a context: on request, at the interval, and for the last time when the context, the source or
 * the process ends.
 */
export class Sampling {
  readonly #source: Source
  readonly #metrics: ReadonlyMap<RecordType, Sampled>
  readonly #nowMs: () => number
  /** Called when a timed sample fails. */
  readonly #failed: (error: unknown) => void
  readonly #timer: NodeJS.Timeout | undefined
  readonly #leave: () => void
  #isUnderWay = false
  #isLastTaken = false
  #isOver = false

  constructor(
    source: Source,
    metrics: ReadonlyMap<RecordType, Sampled>,
    { flushIntervalMs, nowMs }: MetricsConfig,
    failed: (error: unknown) => void,
  ) {
    this.#source = source
    this.#metrics = metrics
    this.#nowMs = nowMs
    this.#failed = failed
    this.#leave = source.beforeEnd(() => this.#takeLast())
    if (flushIntervalMs > 0) this.#timer = setInterval(() => this.#sampleInSteps(), flushIntervalMs).unref()
  }

  /** Emits every metric that may be sampled again, before it returns. */
  sample(timeNs: bigint): void {
    this.#isLastTaken = false
    this.#collect(timeNs, this.#due())
  }

  /** Emits all metrics for the last time. */
  end(): void {
    if (this.#isOver) return
    this.#collectAll()
    this.#isOver = true
    clearInterval(this.#timer)
    this.#leave()
  }

  /**
   * Samples one metric a step, over several turns of the event loop. If the last run has not ended, the next interval
   * is skipped.
   */
  async #sampleInSteps(): Promise<void> {
    if (this.#source.isClosed) this.end()
    if (this.#isUnderWay) return
    this.#isUnderWay = true
    this.#isLastTaken = false
    try {
      const timeNs = wallNs()
      for (const type of this.#due()) {
        while (turn.isOver()) await turn.next()
        this.#collect(timeNs, [type])
      }
    } catch (error) {
      this.#failed(error)
    }
    this.#isUnderWay = false
  }

  /** Samples once: a process that is about to end calls this until there are no new records. */
  #takeLast(): void {
    if (this.#isLastTaken) return
    this.#isLastTaken = true
    this.#collectAll()
  }

  #collectAll(): void {
    try {
      this.#collect(wallNs(), this.#metrics.keys())
    } catch (error) {
      this.#failed(error)
    }
  }

  #due(): RecordType[] {
    const nowMs = this.#nowMs()
    return [...this.#metrics.values()].filter((metric) => metric.takeTurn(nowMs)).map(({ type }) => type)
  }

  #collect(timeNs: bigint, types: Iterable<RecordType>): void {
    if (!this.#isOver) this.#source.collect(timeNs, new Set(types))
  }
}
