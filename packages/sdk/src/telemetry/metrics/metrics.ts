import { messageOf, SondeError, shown, warnOfFault } from '../../errors.ts'
import { absenceType } from '../../schema/builtin.ts'
import type { RecordType } from '../../schema/record-type.ts'
import type { LossReason } from '../../schema/symbols.ts'
import { countDrop } from '../../sink/sink.ts'
import { Absences } from '../../source/absence.ts'
import { wallNs } from '../../source/clock.ts'
import type { GaugeHandle } from '../../source/handles.ts'
import type { HistogramHandle } from '../../source/histogram.ts'
import { Source } from '../../source/source.ts'
import type { Row } from '../../source/table.ts'
import { type Declaration, Declarations } from './declarations.ts'
import { type AddHandle, adderOf, type TotalHandle, WatchedTotal } from './handles.ts'
import { BoundMetric, type Metric } from './metric.ts'
import {
  type AnyOptions,
  type CounterOptions,
  declarationOf,
  type GaugeOptions,
  type HistogramOptions,
  limitsOf,
  type MetricsConfig,
  type MetricsOptions,
  metricsConfig,
} from './options.ts'
import { Sampling } from './sampling.ts'

/** Counts of a context. */
export interface MetricsStats {
  /**
   * Dropped updates by reason: `metric_series_limit`, or `metric_no_room` (symbols or rows of the source are used up).
   * They also count as losses of the source, and so become `sonde_loss`.
   */
  readonly dropped: Map<string, number>
  /** Number of totals below the previous total: restarts of the count. */
  restarts: number
  /**
   * Number of samples and closes that failed because the wall clock is before 2000.
   */
  errors: number
}

/** After this many falling totals a warning is printed, because restarts are rare. */
const FALLS_TOLD = 3

/**
 * Makes a context of metrics for a source: counters, gauges and histograms with labels, which are sampled together. A
 * source may have any number of contexts.
 *
 * @throws SondeError `MTR_OPTION` if the source is missing, or an option is unknown or out of range; `SRC_CLOSED` if
 * the source is closed.
 * @example
 * const metrics = createMetrics(source, { labels: { pool: 'a' } })
 * const jobs = metrics.counter('jobs_total', { help: 'Jobs done', labels: ['queue'] }).bind({ queue: 'mail' })
 * jobs.add()
 */
export function createMetrics(source: Source, options: MetricsOptions = {}): Metrics {
  if (!(source instanceof Source)) {
    throw new SondeError('MTR_OPTION', `the source of metrics is ${shown(source)}; allowed: one of schema.createSource`)
  }
  return new Metrics(source, metricsConfig(options))
}

/** See {@link createMetrics}, which checks the options; do not use `new`. */
export class Metrics {
  readonly stats: MetricsStats = { dropped: new Map(), restarts: 0, errors: 0 }
  readonly #source: Source
  readonly #config: MetricsConfig
  readonly #declarations: Declarations
  readonly #metrics = new Map<RecordType, BoundMetric<string, object>>()
  readonly #sampling: Sampling
  #closed = false

  constructor(source: Source, config: MetricsConfig) {
    this.#source = source
    this.#config = config
    this.#declarations = Declarations.of(source)
    this.#sampling = new Sampling(source, this.#metrics, config, (error) => this.#failed(error))
  }

  /**
   * A counter with `add`; it starts at 0 when it is bound.
   *
   * @throws SondeError `MTR_CONFLICT` if the source has another metric of that name, `MTR_LABELS` if a label's
   * name is taken, `MTR_LIMIT` if the source has too many metrics, `MTR_OPTION` if a limit is out of its range,
   * `MTR_CLOSED` after `close`, `SCH_NAME` or `SCH_METRIC_NAME` if a name is not allowed.
   */
  counter<const N extends string = never>(name: string, options: CounterOptions<N> = {}): Metric<N, AddHandle> {
    return this.#declare(name, 'counter', options, (row) => adderOf(row, name))
  }

  /**
   * A counter whose total is kept elsewhere and set here. Use {@link counter} for differences: totals that fall again
   * and again print a warning.
   *
   * @throws SondeError the errors of {@link counter}.
   */
  total<const N extends string = never>(name: string, options: CounterOptions<N> = {}): Metric<N, TotalHandle> {
    let falls = 0
    const fell = () => {
      this.stats.restarts++
      if (++falls === FALLS_TOLD) warnOfFalls(name)
    }
    return this.#declare(name, 'total', options, (row) => new WatchedTotal(row.counter(name), fell))
  }

  /**
   * A measurement that moves both ways; absent until its first value.
   *
   * @throws SondeError the errors of {@link counter}.
   */
  gauge<const N extends string = never>(name: string, options: GaugeOptions<N> = {}): Metric<N, GaugeHandle> {
    return this.#declare(name, 'gauge', options, (row) => row.gauge(name))
  }

  /**
   * A histogram with fixed edges, exposed with `_bucket`, `_sum` and `_count`.
   *
   * @throws SondeError the errors of {@link counter}, and `SCH_FIELD` if the edges do not ascend.
   */
  histogram<const N extends string = never>(name: string, options: HistogramOptions<N>): Metric<N, HistogramHandle> {
    return this.#declare(name, 'histogram', options, (row) => row.histogram(name))
  }

  /**
   * Emits the current values, histograms included, of every metric that may be sampled again. `timeNs`: nanoseconds
   * since the Unix epoch; default: now.
   */
  sample(timeNs: bigint = wallNs()): void {
    this.#sampling.sample(timeNs)
  }

  /** Samples, and resolves when every sink has acknowledged. Rejects if a part was lost. */
  flush(timeNs?: bigint): Promise<void> {
    this.sample(timeNs)
    return this.#source.flush()
  }

  /**
   * Samples all metrics for the last time, releases their series and flushes. Released series leave `/metrics` unless
   * another context of the source uses them. May be called twice. `close` of the source samples for the last time too.
   */
  close(): Promise<void> {
    const isLate = this.#closed || this.#source.isClosed
    this.#closed = true
    this.#sampling.end()
    if (!isLate) this.#letGo()
    return this.#source.flush()
  }

  /** A timed sample failed: no caller gets the error, so one warning is printed. */
  #failed(error: unknown): void {
    if (++this.stats.errors > 1) return
    const who = `metrics of source ${this.#source.info.id}`
    warnOfFault(new SondeError('MTR_SAMPLE', `${who} cannot be sampled: ${messageOf(error)}; stats.errors counts it`))
  }

  #letGo(): void {
    this.#source.admit(absenceType)
    const absences = new Absences(this.#source)
    for (const metric of this.#metrics.values()) {
      try {
        metric.close(absences)
      } catch {
        // The clock is before 2000: views drop the series when they expire.
        this.stats.errors++
      }
    }
  }

  #declare<N extends string, H extends object>(
    name: string,
    what: Declaration['what'],
    options: AnyOptions<N>,
    handleOf: (row: Row) => H,
  ): Metric<N, H> {
    if (this.#closed) throw new SondeError('MTR_CLOSED', `metric ${name}: the context is closed; make a new one`)
    const declaration = declarationOf(name, what, options)
    const { help = name, labels = [] } = options
    const constantLabels = this.#config.labels
    const limits = limitsOf(options, this.#config)
    const names = [...labels, ...Object.keys(constantLabels)]
    const variant = this.#declarations.declare(declaration, help, names)
    const known = this.#metrics.get(variant.type)
    // Equal declarations have equal handles.
    if (known !== undefined) return known as BoundMetric<N, object> as BoundMetric<N, H>
    const dropped = (reason: LossReason) => {
      countDrop(this.stats, reason, 1)
      this.#source.countLoss(reason)
    }
    const metric = new BoundMetric<N, H>({
      name,
      source: this.#source,
      variant,
      constantLabels,
      ...limits,
      handleOf,
      dropped,
    })
    this.#metrics.set(variant.type, metric as BoundMetric<string, object>)
    return metric
  }
}

function warnOfFalls(name: string): void {
  process.emitWarning(
    `metric ${name}: its total fell ${FALLS_TOLD} times. A total counts since a start; give differences to a counter with add`,
    { type: 'SondeWarning', code: 'MTR_FALLS' },
  )
}
