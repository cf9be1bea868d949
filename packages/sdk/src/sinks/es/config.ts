import { flag, pattern, setting } from '../../config/kit.ts'
import { type DeliveryLimits, deliveryEntries } from '../../delivery/config.ts'
import { type HttpOptions, httpEntries } from '../../delivery/connection/config.ts'
import type { PushSinkOptions } from '../../delivery/push-sink-options.ts'

/** Options of {@link createEs}: its own, those of an HTTP connection, and the limits that every push sink has. */
export interface EsOptions extends DeliveryLimits, HttpOptions, PushSinkOptions {
  /** Index, alias or data stream. Default: `sonde`. */
  readonly index?: string
  /** Whether the index has the day of the record: `PREFIX-YYYY.MM.DD`. Default: false. */
  readonly logstashFormat?: boolean
  /** Prefix of these indexes. Default: `sonde`. */
  readonly logstashPrefix?: string
  /** Whether requests have no mapping type, as Elasticsearch 8 and OpenSearch demand. Default: true. */
  readonly suppressTypeName?: boolean
  /** Whether each document has an id that follows from its content, so that it is stored once. Default: true. */
  readonly generateId?: boolean
  /** Whether indexes map 64-bit counters as `unsigned_long`. Default: false. */
  readonly unsigned?: boolean
}

function indexName() {
  return pattern(/^[a-z0-9][a-z0-9._-]{0,199}$/, 'an index name of small letters, digits, ., _ and -, at most 200')
}

const ownEntries = {
  index: setting(indexName(), 'sonde', 'Index, alias or data stream'),
  logstashFormat: setting(flag(), false, 'Whether the index has the day of the record: `PREFIX-YYYY.MM.DD`'),
  logstashPrefix: setting(indexName(), 'sonde', 'Prefix of indexes with a day'),
  suppressTypeName: setting(
    flag(),
    true,
    'Whether requests have no mapping type, as Elasticsearch 8 and OpenSearch demand. If not, it is `_doc`',
  ),
  generateId: setting(
    flag(),
    true,
    'Whether each document has an id that follows from its content. A document that is sent again is then stored once',
  ),
  unsigned: setting(
    flag(),
    false,
    'Whether indexes map 64-bit counters as `unsigned_long`. If not, values above 2^63-1 are in the text `left_out`',
  ),
}

/** Keys of the target, without the limits of delivery. */
export const esTargetEntries = { ...ownEntries, ...httpEntries }

/** Keys of this destination in a configuration. */
export const esEntries = { ...esTargetEntries, ...deliveryEntries }
