import * as v from 'valibot'
import { boundedText, choice, dictionary, integer, setting } from '../../config/kit.ts'
import { type DeliveryLimits, deliveryEntries, type SeriesLimits, seriesEntries } from '../../delivery/config.ts'
import { type Compression, type HttpOptions, httpEntries } from '../../delivery/connection/config.ts'
import type { PushSinkOptions } from '../../delivery/push-sink-options.ts'
import type { OptionClash } from '../registry.ts'

/** How messages are written. */
export type OtlpProtocol = 'http/protobuf' | 'http/json'

/** Options of {@link createOtlp}: its own, those of an HTTP connection, and the limits that every push sink has. */
export interface OtlpOptions
  extends Omit<DeliveryLimits, 'timeoutMs'>,
    SeriesLimits,
    Omit<HttpOptions, 'url' | 'compression'>,
    PushSinkOptions {
  /**
   * Address of the receiver, to which `/v1/metrics` and `/v1/logs` are appended. Default: that of
   * `OTEL_EXPORTER_OTLP_ENDPOINT`, else `http://127.0.0.1:4318`.
   */
  readonly url?: string | undefined
  /** How requests are packed; every receiver takes `gzip`. Default: `none`. `zstd` needs Node 22.15. */
  readonly compression?: Compression | undefined
  /** How long one attempt may take. Unit: milliseconds. Range: 10 to 600 000. Default: 10 000. */
  readonly timeoutMs?: number | undefined
  /** How messages are written. Default: `http/protobuf`. */
  readonly protocol?: OtlpProtocol | undefined
  /**
   * What counters and histograms count: `cumulative` since their start, or `delta` since the record before. Default:
   * `cumulative`. With `delta`, `concurrency` is 1.
   */
  readonly temporality?: 'cumulative' | 'delta' | undefined
  /** Attributes of every resource. Default: `service.name` is the name of the schema, `sonde` in an agent. */
  readonly resource?: Readonly<Record<string, string>>
  /**
   * Size of a request at most, before compression; a larger one is split. Unit: bytes. Range: 64 KiB to 64 MiB.
   * Default: 20 MiB, which the specification advises.
   */
  readonly requestBytesMax?: number
  /** Name of the schema, the default of `service.name`. Default: `sonde`. */
  readonly schema?: string
  /** Version of the program, in every scope. Default: none. */
  readonly version?: string
}

const ATTRIBUTE_WORDS = 'at most 64 texts of 1 to 1024 characters by name, such as { service.name: trainer }'

const OF_VARIABLES = 'Default: that of the [variables of OpenTelemetry](destinations.md#otlp), else'

const ownEntries = {
  protocol: v.optional(
    v.pipe(
      choice(['http/protobuf', 'http/json']),
      v.description(`How messages are written. ${OF_VARIABLES} \`http/protobuf\``),
    ),
  ),
  temporality: v.optional(
    v.pipe(
      choice(['cumulative', 'delta']),
      v.description(
        `What counters and histograms count: since their start, or since the record before. ${OF_VARIABLES} \`cumulative\``,
      ),
    ),
  ),
  resource: setting(
    v.pipe(
      dictionary(/^[\w.:/-]{1,128}$/, boundedText(), ATTRIBUTE_WORDS),
      v.check((given) => Object.keys(given).length <= 64, ATTRIBUTE_WORDS),
    ),
    {},
    'Attributes of every resource. Default: `service.name` is the name of the schema, in an agent `sonde`',
  ),
  requestBytesMax: setting(
    integer(64 << 10, 64 << 20, 'bytes'),
    20 << 20,
    'Size of a request before compression; a larger request is split',
  ),
}

/** Keys of the target, without the limits of delivery. */
export const otlpTargetEntries = {
  ...ownEntries,
  ...httpEntries,
  url: v.optional(
    v.pipe(
      httpEntries.url,
      v.description(
        `Address of the receiver, without name and password; \`/v1/metrics\` and \`/v1/logs\` are appended. ${OF_VARIABLES} \`http://127.0.0.1:4318\``,
      ),
    ),
  ),
  compression: v.optional(
    v.pipe(
      choice(['none', 'gzip', 'zstd']),
      v.description(`How requests are packed; every receiver takes \`gzip\`. ${OF_VARIABLES} \`none\``),
    ),
  ),
  timeoutMs: v.optional(
    v.pipe(integer(10, 600_000, 'milliseconds'), v.description(`How long one attempt may take. ${OF_VARIABLES} 10000`)),
  ),
}

/** Keys of this destination in a configuration. */
export const otlpEntries = { ...deliveryEntries, ...seriesEntries, ...otlpTargetEntries }

/** A conflict between options that are each valid. */
export function clashOfOtlp({
  temporality,
  concurrency = 1,
}: Pick<OtlpOptions, 'temporality' | 'concurrency'>): OptionClash | undefined {
  if (temporality !== 'delta' || concurrency === 1) return undefined
  return { key: 'concurrency', fault: `is ${concurrency}`, allowed: '1 with delta, because differences need an order' }
}
