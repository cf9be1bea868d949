import { turn } from '../../internal/turn.ts'
import type { RecordType } from '../../schema/record-type.ts'
import { wallNs } from '../../source/clock.ts'
import type { Source } from '../../source/source.ts'
import type { MetricsConfig } from './options.ts'

/** A metric, as far as sampling knows it. */
export interface Sampled {
  readonly type: RecordType
  /** Whether it may be sampled again; counts as sampled then. */
  takeTurn(nowMs: number): boolean
}

/**
 * When the metrics of a context are emitted: when somebody asks, at the interval, and for the last time when context,
 * source or process end.
 */
export class Sampling {
  readonly #source: Source
  readonly #metrics: ReadonlyMap<RecordType, Sampled>
  readonly #nowMs: () => number
  /** Called where nobody asked and it could not be done. */
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
   * A metric a step, in as many turns of the event loop as that takes. The next interval leaves out what is still under
   * way.
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

  /** Once, until there is another sample: a process that is about to end asks again until nothing is new. */
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
