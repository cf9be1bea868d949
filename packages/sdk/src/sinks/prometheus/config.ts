import { SondeError } from '../../errors.ts'

/** Options of {@link createPrometheus}. */
export interface PrometheusOptions {
  /** Name of the sink in statistics. Default: `prometheus`. */
  name?: string | undefined
  /**
   * Whether lines carry the time of their record. Prometheus marks no series with timestamps stale when it vanishes, so leave it out
   * unless the records are late. Records of other clocks than `wall` never carry one. Default: false.
   */
  timestamps?: boolean | undefined
  /** A series without a record for this long is taken out. Unit: seconds. Range: 1 to 2 592 000. Default: 300. */
  seriesExpiryS?: number | undefined
  /** Label combinations a type at most; records of further ones are dropped as `series_limit`. Range: 1 to 10 000 000. Default: 50 000. */
  seriesLimit?: number | undefined
  /** Lines in all at most; records of further series are dropped as `line_limit`. Range: 1 to 100 000 000. Default: 2 000 000, some 400 MB. */
  lineLimit?: number | undefined
  /** The clock of expiry. Unit: milliseconds. Default: `Date.now`. */
  nowMs?: (() => number) | undefined
}

/** Options with every default filled in. */
export type PrometheusConfig = { readonly [K in keyof PrometheusOptions]-?: NonNullable<PrometheusOptions[K]> }

/** @throws SondeError `PRM_OPTION` where a number is out of its range. */
export function prometheusConfig(options: PrometheusOptions): PrometheusConfig {
  return Object.freeze({
    name: options.name ?? 'prometheus',
    timestamps: options.timestamps ?? false,
    seriesExpiryS: inRange('seriesExpiryS', options.seriesExpiryS ?? 300, 2_592_000),
    seriesLimit: inRange('seriesLimit', options.seriesLimit ?? 50_000, 10_000_000),
    lineLimit: inRange('lineLimit', options.lineLimit ?? 2_000_000, 100_000_000),
    nowMs: options.nowMs ?? Date.now,
  })
}

function inRange(option: string, value: number, high: number): number {
  if (value >= 1 && value <= high) return value
  throw new SondeError('PRM_OPTION', `${option} of the Prometheus view is ${value}; allowed: 1 to ${high}`)
}
