import { type OptionNames, unknownOption } from '../../config/unknown-option.ts'
import { SondeError, shown } from '../../errors.ts'
import { isName } from '../../schema/record-type.ts'
import type { Labels } from '../../schema/series.ts'
import type { Declaration } from './declarations.ts'

/** Options of {@link createMetrics}. */
export interface MetricsOptions {
  /** Constant labels: every series of the context has them. Default: none. */
  labels?: Labels
  /**
   * Period of the samples. Unit: milliseconds. Range: 0 (only `flush` samples) to 3 600 000. Default: 1000.
   */
  flushIntervalMs?: number
  /**
   * The shortest time between two samples of a metric, even if `flush` is called more often. No value is lost: handles
   * keep the newest values, and `close` samples them. Unit: microseconds. Range: 0 to 3 600 000 000. Default: 0.
   */
  minSampleIntervalUs?: number
  /**
   * Limit of series of one metric; updates of further series are dropped and counted as `metric_series_limit`. Range: 1
   * to 1 000 000. Default: 10 000.
   */
  seriesLimit?: number
  /** A monotonic clock for `minSampleIntervalUs`. Unit: milliseconds. Default: `performance.now`. */
  nowMs?: () => number
}

/** Options of a metric. */
export interface MetricOptions<N extends string = string> {
  /** One sentence for people; becomes HELP. Default: the name. */
  help?: string
  /** Base unit as Prometheus spells it: `bytes`, `seconds`, `celsius`, `ratio`… Default: none. */
  unit?: string
  /** The label set: names of the labels that `bind` takes. Metrics may share one. Default: none. */
  labels?: readonly N[]
  /** In place of that of the context. */
  minSampleIntervalUs?: number
  /** In place of that of the context. */
  seriesLimit?: number
}

/** Options of a counter. */
export interface CounterOptions<N extends string = string> extends MetricOptions<N> {
  /** `u64` counts exactly and wraps at 2^64; `f64` accepts fractions. Default: `u64`. */
  kind?: 'u64' | 'f64'
}

/** Options of a gauge. */
export interface GaugeOptions<N extends string = string> extends MetricOptions<N> {
  /** `u64` and `i64` are exact; values from 2^53 on must be bigints. Default: `f64`. */
  kind?: 'f64' | 'u64' | 'i64'
}

/** Options of a histogram. */
export interface HistogramOptions<N extends string = string> extends MetricOptions<N> {
  /**
   * Upper edges of the bins, without that of the last: finite, ascending, 1 to 65 534. A histogram whose first edge is
   * below 0 has no sum.
   */
  edges: readonly number[]
  /** Kind of the observations: `u64` accepts whole numbers, and their sum is exact. Default: `f64`. */
  kind?: 'f64' | 'u64'
}

/** Options that a metric may override. */
export type Limits = Required<Pick<MetricsOptions, 'minSampleIntervalUs' | 'seriesLimit'>>

/** Options of a context with every default filled in. */
export type MetricsConfig = Required<MetricsOptions>

const SERIES_LIMIT = 10_000
const NAMES: OptionNames<MetricsOptions> = {
  labels: true,
  flushIntervalMs: true,
  minSampleIntervalUs: true,
  seriesLimit: true,
  nowMs: true,
}

/** @throws SondeError `MTR_OPTION` with the option, its value and the allowed values. */
export function metricsConfig(options: MetricsOptions): MetricsConfig {
  if (options === null || typeof options !== 'object') throw refused('the options', options, 'an object')
  const unknown = unknownOption(options, NAMES)
  if (unknown !== undefined) throw new SondeError('MTR_OPTION', `metrics: ${unknown}`)
  const { flushIntervalMs = 1000, labels = {}, nowMs = () => performance.now() } = options
  if (labels === null || typeof labels !== 'object') throw refused('labels', labels, 'texts by name')
  for (const [name, text] of Object.entries(labels)) {
    if (!isName(name)) throw refused('a name in labels', name, 'letters, digits and _ . : -, at most 128')
    if (typeof text !== 'string') throw refused(`labels.${name}`, text, 'text')
  }
  checkRange('flushIntervalMs', flushIntervalMs, 0, 3_600_000)
  const limits = limitsOf(options, { minSampleIntervalUs: 0, seriesLimit: SERIES_LIMIT })
  return { flushIntervalMs, labels: { ...labels }, nowMs, ...limits }
}

/** The kinds of a metric; the first is the default. */
const KINDS: Readonly<Record<Declaration['what'], readonly [Declaration['kind'], ...Declaration['kind'][]]>> = {
  counter: ['u64', 'f64'],
  total: ['u64', 'f64'],
  gauge: ['f64', 'u64', 'i64'],
  histogram: ['f64', 'u64'],
}

const METRIC_NAMES: OptionNames<GaugeOptions> = {
  help: true,
  unit: true,
  labels: true,
  kind: true,
  minSampleIntervalUs: true,
  seriesLimit: true,
}
const HISTOGRAM_NAMES: OptionNames<HistogramOptions> = { ...METRIC_NAMES, edges: true }

/** The options of all metrics. */
export type AnyOptions<N extends string> = MetricOptions<N> & {
  readonly kind?: Declaration['kind']
  readonly edges?: readonly number[]
}

/**
 * Checks the declaration of a metric, for programs in JavaScript.
 *
 * @throws SondeError `MTR_OPTION` if an option is unknown or has another type than declared.
 */
export function declarationOf(name: string, what: Declaration['what'], options: AnyOptions<string>): Declaration {
  if (typeof name !== 'string') throw refused('the name', name, 'text')
  if (options === null || (typeof options !== 'object' && options !== undefined)) {
    throw refused(`the options of ${name}`, options, 'an object')
  }
  const isHistogram = what === 'histogram'
  const unknown = unknownOption(options ?? {}, isHistogram ? HISTOGRAM_NAMES : METRIC_NAMES)
  if (unknown !== undefined) throw new SondeError('MTR_OPTION', `metric ${name}: ${unknown}`)
  const { help = '', unit = '', labels = [], kind = KINDS[what][0], edges } = options ?? {}
  if (typeof help !== 'string') throw refused(`help of ${name}`, help, 'text')
  if (typeof unit !== 'string') throw refused(`unit of ${name}`, unit, 'text')
  if (!KINDS[what].includes(kind)) throw refused(`kind of ${name}`, kind, KINDS[what].join(', '))
  const areNames = Array.isArray(labels) && labels.every((label) => typeof label === 'string')
  if (!areNames) throw refused(`labels of ${name}`, labels, 'an array of names')
  if (isHistogram && !Array.isArray(edges)) throw refused(`edges of ${name}`, edges, 'an array of numbers')
  return { name, what, kind, unit, edges: edges ?? [] }
}

/** The limits of a metric: its own limits, else those of its context. */
export function limitsOf(own: MetricsOptions | MetricOptions, inherited: Limits): Limits {
  const { minSampleIntervalUs = inherited.minSampleIntervalUs, seriesLimit = inherited.seriesLimit } = own
  checkRange('minSampleIntervalUs', minSampleIntervalUs, 0, 3_600_000_000)
  checkRange('seriesLimit', seriesLimit, 1, 1_000_000)
  return { minSampleIntervalUs, seriesLimit }
}

function checkRange(option: string, given: number, low: number, high: number): void {
  if (!(typeof given === 'number' && given >= low && given <= high)) throw refused(option, given, `${low} to ${high}`)
}

function refused(option: string, given: unknown, allowed: string): SondeError {
  return new SondeError('MTR_OPTION', `${option} of metrics is ${shown(given)}; allowed: ${allowed}`)
}
