import * as v from 'valibot'
import { boundedText, flag } from '../../config/kit.ts'
import { type DeliveryLimits, deliveryEntries, type SeriesLimits, seriesEntries } from '../../delivery/config.ts'
import { type HttpOptions, httpEntries } from '../../delivery/connection/config.ts'
import type { PushSinkOptions } from '../../delivery/push-sink-options.ts'
import type { OptionClash } from '../registry.ts'

/** Options of {@link createInflux}: its own, those of an HTTP connection, and the limits that every push sink has. */
export interface InfluxOptions extends DeliveryLimits, SeriesLimits, HttpOptions, PushSinkOptions {
  /** Database of InfluxDB 1, for the path `/write`. Either this or `bucket`. */
  readonly database?: string | undefined
  /** Bucket of InfluxDB 2, or database of InfluxDB 3, for the path `/api/v2/write`. Either this or `database`. */
  readonly bucket?: string | undefined
  /** Organization of the bucket; InfluxDB 3 has none. Default: none. */
  readonly org?: string | undefined
  /** Whether the server has unsigned integers. Default: `true` with `bucket`, `false` with `database`. */
  readonly unsigned?: boolean | undefined
}

function optionalText(words: string) {
  return v.optional(v.pipe(boundedText(1, 256), v.description(words)))
}

const ownEntries = {
  database: optionalText('Database of InfluxDB 1. Either this or `bucket`'),
  bucket: optionalText('Bucket of InfluxDB 2, or database of InfluxDB 3. Either this or `database`'),
  org: optionalText('Organization of the bucket; InfluxDB 3 has none'),
  unsigned: v.optional(
    v.pipe(
      flag(),
      v.description(
        'Whether the server has unsigned integers. If not, values above 2^63-1 are in the text `left_out`. Default: `true` with `bucket`, `false` with `database`',
      ),
    ),
  ),
}

/** Keys of the target, without the limits of delivery. */
export const influxTargetEntries = { ...ownEntries, ...httpEntries }

/** Keys of this destination in a configuration. */
export const influxEntries = { ...influxTargetEntries, ...deliveryEntries, ...seriesEntries }

/** A conflict between options of the target. */
export function clashOfInflux(options: Pick<InfluxOptions, keyof typeof ownEntries>): OptionClash | undefined {
  const { database, bucket, org } = options
  if (database !== undefined && bucket !== undefined)
    return { key: 'bucket', fault: 'is given beside database', allowed: 'one of the two' }
  if (database === undefined && bucket === undefined)
    return { key: 'database', fault: 'is missing', allowed: 'database for InfluxDB 1, or bucket for later versions' }
  if (org !== undefined && bucket === undefined)
    return { key: 'org', fault: 'is given without bucket', allowed: 'nothing with database' }
  return undefined
}
