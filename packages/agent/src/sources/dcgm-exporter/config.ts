import { block, flag, integer, list, setting, text } from '@sonde/sdk/config'
import * as v from 'valibot'

/** Exporters of one source, those of a discovery file included. */
export const ADDRESS_COUNT_MAX = 1024

/** Time between two scrapes where none is given. Unit: milliseconds. */
export const INTERVAL_MS = 15_000

const ADDRESS_WORDS = 'an address such as http://127.0.0.1:9400/metrics, without user and password'

/** Whether a text is the address of an exporter. */
export function isAddress(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
}

/** Options of the dcgm_exporter source in `data_sources`. */
export const dcgmExporterOptions = block({
  interval_ms: setting(
    integer(1000, 3_600_000, 'milliseconds'),
    INTERVAL_MS,
    'Time between two scrapes of an exporter. Unit: milliseconds',
  ),
  addresses: setting(
    list(v.pipe(v.string(ADDRESS_WORDS), v.maxLength(1024), v.check(isAddress, ADDRESS_WORDS)), ADDRESS_COUNT_MAX),
    ['http://127.0.0.1:9400/metrics'],
    'Addresses of the exporters; not asked where `discovery_file` is given',
  ),
  discovery_file: v.optional(
    v.pipe(
      text(1, 4096),
      v.description(
        'File with the addresses, as Prometheus reads it (`file_sd_configs`, JSON); it is read again before each scrape',
      ),
    ),
  ),
  timeout_ms: setting(
    integer(100, 60_000, 'milliseconds'),
    10_000,
    'Time that an exporter has for a whole answer. Unit: milliseconds',
  ),
  max_bytes: setting(
    integer(1024, 1 << 30, 'bytes'),
    64 << 20,
    'Bytes of one answer; a longer one is refused as a whole. Unit: bytes',
  ),
  collect_interval_ms: setting(
    integer(100, 3_600_000, 'milliseconds'),
    30_000,
    'How often the exporter itself reads the GPUs (its `--collect-interval`): how old a value may be. Unit: milliseconds',
  ),
  export: setting(
    flag(),
    false,
    'Whether what was scraped is in `/metrics` too: who scrapes exporter and agent would count power twice',
  ),
})

/** What {@link dcgmExporterOptions} gives. */
export type DcgmExporterOptions = v.InferOutput<typeof dcgmExporterOptions>
