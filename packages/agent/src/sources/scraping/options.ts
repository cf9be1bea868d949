import { boundedText, integer, list, setting } from '@sonde/sdk/config'
import * as v from 'valibot'

/** Largest number of addresses of one source, including those of its discovery file. */
export const ADDRESS_COUNT_MAX = 1024

/** Default time between two scrapes. Unit: milliseconds. */
export const INTERVAL_MS = 15_000

const ADDRESS_WORDS = 'an address such as http://127.0.0.1:9400/metrics, without user and password'

/** Whether a text is a valid address of an exporter. */
export function isAddress(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
}

/** Defaults that differ between sources that scrape. */
export interface ScrapingDefaults {
  readonly address: string
  readonly seriesMax: number
  /** Unit: milliseconds. */
  readonly cpuMsMax: number
}

function file(words: string) {
  return v.optional(v.pipe(boundedText(1, 4096), v.description(`${words}; it is read again before each scrape`)))
}

/**
 * Options of every source that scrapes.
 *
 * @param defaults Defaults of the source: address of the exporter, series per exporter, and processor time for an
 * answer.
 */
export function scrapingOptions({ address, seriesMax, cpuMsMax }: ScrapingDefaults) {
  return {
    interval_ms: setting(
      integer(1000, 3_600_000, 'milliseconds'),
      INTERVAL_MS,
      'Time between two scrapes of an address. Unit: milliseconds',
    ),
    addresses: setting(
      list(v.pipe(v.string(ADDRESS_WORDS), v.maxLength(1024), v.check(isAddress, ADDRESS_WORDS)), ADDRESS_COUNT_MAX),
      [address],
      'Addresses of the exporters; not asked where `discovery_file` is given',
    ),
    discovery_file: file('File with the addresses, as Prometheus reads it (`file_sd_configs`, JSON)'),
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
    max_cpu_ms: setting(
      integer(10, 60_000, 'milliseconds'),
      cpuMsMax,
      'Processor time of one answer; an answer that takes more is refused as a whole, and its exporter rests for ten times as long. Unit: milliseconds',
    ),
    max_series: setting(
      integer(1024, 1 << 20, 'series'),
      seriesMax,
      'Series that one exporter may add to views and history within a day; further series are dropped and counted',
    ),
    username: v.optional(
      v.pipe(boundedText(1, 256), v.description('Name for basic authentication; `password_file` has the password')),
    ),
    password_file: file('File with the password of `username`'),
    bearer_token_file: file('File with a token that is sent as `Authorization: Bearer`'),
    ca_file: file('File with the certificates (PEM) that sign those of the exporters'),
    cert_file: file('File with the certificate (PEM) that is shown to the exporters; `key_file` has its key'),
    key_file: file('File with the key (PEM) of `cert_file`'),
  }
}

/** Parsed {@link scrapingOptions}. */
export interface ScrapingOptions {
  readonly interval_ms: number
  readonly addresses: readonly string[]
  readonly discovery_file?: string | undefined
  readonly timeout_ms: number
  readonly max_bytes: number
  readonly max_cpu_ms: number
  readonly max_series: number
  readonly username?: string | undefined
  readonly password_file?: string | undefined
  readonly bearer_token_file?: string | undefined
  readonly ca_file?: string | undefined
  readonly cert_file?: string | undefined
  readonly key_file?: string | undefined
}
