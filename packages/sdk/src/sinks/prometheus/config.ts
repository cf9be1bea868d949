import { SondeError, shown, warnOfFault } from '../../errors.ts'
import type { SourceInfo } from '../../schema/batch.ts'
import { isOwnLabel } from '../../schema/label-rules.ts'
import { firstDrops } from './drop-causes.ts'

/** Options of {@link createPrometheus}. */
export interface PrometheusOptions {
  /** Name of the sink in statistics. Default: `prometheus`. */
  name?: string | undefined
  /**
   * Whether lines carry the time of their record. Prometheus marks no series with timestamps stale when it vanishes, so
   * leave it out unless the records are late. Records of other clocks than `wall` never carry one. Default: false.
   */
  timestamps?: boolean | undefined
  /** A series without a record for this long is taken out. Unit: seconds. Range: 1 to 2 592 000. Default: 300. */
  seriesExpiryS?: number | undefined
  /**
   * Label combinations a type at most; records of further ones are dropped as `series_limit`. Range: 1 to 10 000 000.
   * Default: 50 000.
   */
  seriesLimit?: number | undefined
  /**
   * Lines in all at most, one of more than 256 bytes as several; records of further series are dropped as `line_limit`.
   * Range: 1 to 100 000 000. Default: 2 000 000, some 400 MB.
   */
  lineLimit?: number | undefined
  /**
   * Names of further fields that identify series: such a field becomes a label, and the latest record of each of its
   * values is kept. Not allowed: optional fields, arrays, fractions, and the reserved label `simulated`. At most 64.
   * Default: none.
   */
  indexes?: readonly string[] | undefined
  /**
   * Labels for every series without a label of that name. Values may contain labels of the record: `gpu-${device}`.
   * Default: none.
   */
  constantLabels?: Readonly<Record<string, string>> | undefined
  /**
   * A label file: lines `name=value`, or a `level_labels.ini`. Looked at with each collect; one that turns bad goes on
   * as it last was. Default: none.
   */
  metadataFile?: string | undefined
  /**
   * Told once of each version of the label file that cannot be used, and of the first drop of each reason. Default: a
   * warning of the process.
   */
  onFault?: ((fault: SondeError) => void) | undefined
  /** Called for records of a source that are dropped. Default: `onFault` is told of the first drop of each reason. */
  onDrop?: ((source: SourceInfo, reason: string, records: number) => void) | undefined
  /** Root of the sysfs in which the address of a device is looked up, for the labels of devices. Default: `/sys`. */
  sysfs?: string | undefined
  /** Tags of the sources that are shown; `counters` are those without a tag. At most 64. Default: all sources. */
  sourceTags?: readonly string[] | undefined
  /**
   * The clock of expiry. Unit: milliseconds. Default: the monotonic clock of the process, which no step of the wall
   * clock moves.
   */
  nowMs?: (() => number) | undefined
}

/** Options with every default filled in. */
export type PrometheusConfig = { readonly [K in keyof PrometheusOptions]-?: NonNullable<PrometheusOptions[K]> }

/**
 * @throws SondeError `PRM_OPTION` if a number is out of its range, a list is none, or an index a label of Sonde's
 * own.
 */
export function prometheusConfig(options: PrometheusOptions): PrometheusConfig {
  const { name = 'prometheus', onFault = warnOfFault } = options
  return Object.freeze({
    name,
    timestamps: options.timestamps ?? false,
    seriesExpiryS: inRange('seriesExpiryS', options.seriesExpiryS ?? 300, 2_592_000),
    seriesLimit: inRange('seriesLimit', options.seriesLimit ?? 50_000, 10_000_000),
    lineLimit: inRange('lineLimit', options.lineLimit ?? 2_000_000, 100_000_000),
    indexes: indexes(options.indexes),
    constantLabels: options.constantLabels ?? {},
    metadataFile: options.metadataFile ?? '',
    onFault,
    onDrop: options.onDrop ?? firstDrops(name, onFault),
    sysfs: options.sysfs ?? '/sys',
    sourceTags: names('sourceTags', options.sourceTags),
    nowMs: options.nowMs ?? (() => performance.now()),
  })
}

function indexes(given: readonly string[] | undefined): readonly string[] {
  const list = names('indexes', given)
  const own = list.find(isOwnLabel)
  if (own === undefined) return list
  throw new SondeError(
    'PRM_OPTION',
    `indexes of the Prometheus view name ${own}, which is a label of Sonde's own; leave it out`,
  )
}

function names(option: string, given: readonly string[] = []): readonly string[] {
  const isList = Array.isArray(given) && given.length <= 64 && given.every((name) => typeof name === 'string')
  if (isList) return given
  throw new SondeError('PRM_OPTION', `${option} of the Prometheus view is ${shown(given)}; allowed: at most 64 texts`)
}

function inRange(option: string, value: number, high: number): number {
  if (typeof value === 'number' && value >= 1 && value <= high) return value
  throw new SondeError('PRM_OPTION', `${option} of the Prometheus view is ${shown(value)}; allowed: 1 to ${high}`)
}
