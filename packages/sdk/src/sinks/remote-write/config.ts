import * as v from 'valibot'
import { choice, dictionary, flag, integer, setting } from '../../config/kit.ts'
import { type DeliveryLimits, deliveryEntries, type SeriesLimits, seriesEntries } from '../../delivery/config.ts'
import { type HttpOptions, httpEntries } from '../../delivery/connection/config.ts'
import type { PushSinkOptions } from '../../delivery/push-sink-options.ts'
import type { OptionClash } from '../registry.ts'
import type { Version } from './versions.ts'

/**
 * Options of {@link createRemoteWrite}: its own, those of an HTTP connection except `compression`, because the protocol
 * prescribes Snappy, and the limits that every push sink has.
 */
export interface RemoteWriteOptions
  extends DeliveryLimits,
    SeriesLimits,
    Omit<HttpOptions, 'compression'>,
    PushSinkOptions {
  /** Version of the protocol. A receiver that does not take 2.0 gets 1.0. Default: `1.0`. */
  readonly version?: Version
  /** Whether histograms with a sum are native histograms with custom edges; only 2.0 has them. Default: false. */
  readonly nativeHistograms?: boolean
  /**
   * Labels of every series that has none of that name. Default: `instance`, the name of this host, and `job`, the name
   * of the schema; an empty text leaves a default out.
   */
  readonly externalLabels?: Readonly<Record<string, string>>
  /** Samples in one request at most. Range: 100 to 100 000. Default: 5 000. */
  readonly requestSamplesMax?: number
  /**
   * A series that has had no record for this time ends at the far end. Unit: seconds. Range: 1 to 604 800. Default:
   * 300.
   */
  readonly seriesExpiryS?: number
  /**
   * A record whose time is further ahead of this machine's clock is refused, because receivers refuse it and all that
   * is with it. Unit: seconds. Range: 0 to 31 536 000. Default: 600, the limit of Prometheus.
   */
  readonly aheadLimitS?: number
  /**
   * Series whose labels are kept at most; beyond, all are encoded again. Range: 1 000 to 10 000 000. Default: 1 000
   * 000.
   */
  readonly seriesLimit?: number
  /**
   * What goes first after an outage. `in_order`: everything in its order. `live_first`: current records at once, and
   * old ones beside them; only for a receiver that takes samples out of order, such as VictoriaMetrics. Default:
   * `in_order`.
   */
  readonly backlog?: (typeof BACKLOGS)[number]
  /** With `live_first`, bytes of old records a second at most. Range: 1 KiB to 1 TiB. Default: 1 MiB. */
  readonly backlogBytesPerSecond?: number
  /** Name of the schema, for the label `job`. Default: `sonde`. */
  readonly schema?: string
}

const BACKLOGS = ['in_order', 'live_first'] as const

/** A record has many samples, so fewer records are encoded together than for other destinations. */
export const RECORDS_MAX = 2000
const LABEL_NAME = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]{0,127}$/
const LABEL_WORDS = 'labels by name, such as { cluster: a }; a name of letters, digits and _, at most 128, no __ first'

const ownEntries = {
  backlog: setting(
    choice(BACKLOGS),
    'in_order',
    'After an outage, `in_order` sends everything in its order; `live_first` sends current records at once and old ones beside them, to a receiver that takes samples out of order',
  ),
  backlogBytesPerSecond: setting(
    integer(1024, 2 ** 40, 'bytes a second'),
    2 ** 20,
    'With `live_first`, bytes of old records a second at most',
  ),
  version: setting(
    choice(['1.0', '2.0']),
    '1.0',
    'Version of the protocol; a receiver that does not take 2.0 gets 1.0',
  ),
  nativeHistograms: setting(
    flag(),
    false,
    'Whether histograms with a sum are native histograms with custom edges; only version 2.0 has them',
  ),
  externalLabels: v.optional(
    v.pipe(
      dictionary(LABEL_NAME, v.pipe(v.string(LABEL_WORDS), v.maxLength(1024, LABEL_WORDS)), LABEL_WORDS),
      v.description(
        'Labels of every series that has none of that name. Default: `instance`, the name of this host, and `job`, the name of the schema; an empty text leaves a default out',
      ),
    ),
    {},
  ),
  requestSamplesMax: setting(integer(100, 100_000, 'samples'), 5000, 'Samples in one request at most'),
  seriesExpiryS: setting(
    integer(1, 604_800, 'seconds'),
    300,
    'A series that has had no record for this time ends at the far end',
  ),
  aheadLimitS: setting(
    integer(0, 31_536_000, 'seconds'),
    600,
    'A record whose time is further ahead of the clock of this machine is refused: a receiver would refuse all that is with it',
  ),
  seriesLimit: setting(
    integer(1000, 10_000_000, 'series'),
    1_000_000,
    'Series whose labels are kept; beyond, all are encoded again',
  ),
}

const { compression: _compression, ...connectionEntries } = httpEntries

/** Keys of the target, without the limits of delivery. */
export const remoteWriteTargetEntries = { ...ownEntries, ...connectionEntries }

/** Keys of this destination in a configuration. */
export const remoteWriteEntries = {
  ...remoteWriteTargetEntries,
  ...deliveryEntries,
  ...seriesEntries,
  batchRecordsMax: setting(integer(1, 1_000_000, 'records'), RECORDS_MAX, 'Records that are encoded together at most'),
}

/** Headers that the protocol prescribes. */
const OF_PROTOCOL = ['content-type', 'content-encoding', 'user-agent', 'x-prometheus-remote-write-version']

/** A header that only the protocol may set, or an option that its version does not have. */
export function clashOfRemoteWrite(
  options: Pick<RemoteWriteOptions, 'headers' | 'version' | 'nativeHistograms'>,
): OptionClash | undefined {
  const { headers = {}, version, nativeHistograms } = options
  if (nativeHistograms === true && version !== '2.0')
    return { key: 'nativeHistograms', allowed: 'true with version 2.0' }
  const name = Object.keys(headers).find((each) => OF_PROTOCOL.includes(each.toLowerCase()))
  if (name === undefined) return undefined
  return { key: 'headers', fault: `has ${name}`, allowed: `headers except ${OF_PROTOCOL.join(', ')}` }
}
