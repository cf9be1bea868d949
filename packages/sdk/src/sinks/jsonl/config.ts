import * as v from 'valibot'
import { checkOptions } from '../../config/check-options.ts'
import { dictionary } from '../../config/kit.ts'
import { secret } from '../../config/secret.ts'
import { type DeliveryLimits, deliveryEntries } from '../../delivery/config.ts'
import type { OnLoss } from '../../delivery/ledger.ts'

/** Options of {@link createJsonl}: its own, and the limits that every push sink has. */
export interface JsonlOptions extends DeliveryLimits {
  /** Where lines are posted: `http:` or `https:`. A name and password in it are sent as basic authentication. */
  url: string
  /** Headers of each request beside `content-type`. Default: none. */
  headers?: Readonly<Record<string, string>>
  /** Name of the sink in statistics. Default: `jsonl`. */
  name?: string
  /** Given records of `sonde_loss`. Default: drops are only counted. */
  onLoss?: OnLoss
}

/** The target of lines, and the headers. */
export interface JsonlTarget {
  /** Without name and password. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Secrets for the peer only. */
  readonly secrets: readonly string[]
}

const URL_WORDS = 'an address of http: or https:, such as https://collector.example:4318/records'
const HEADER_WORDS = 'headers by name, their values one line of ASCII, such as { authorization: Bearer … }'
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/
const HEADER_VALUE = /^[\t\x20-\x7e]{0,8192}$/

const ownEntries = {
  url: v.pipe(
    secret(v.pipe(v.string(URL_WORDS), v.check(isHttp, URL_WORDS)), 'url'),
    v.description('Where records are posted as JSON lines. A name and password are sent as basic authentication'),
  ),
  headers: v.optional(
    v.pipe(
      secret(
        dictionary(HEADER_NAME, v.pipe(v.string(HEADER_WORDS), v.regex(HEADER_VALUE, HEADER_WORDS)), HEADER_WORDS),
      ),
      v.description('Headers of each request; no page, log or print-out shows their values'),
    ),
    {},
  ),
}

/** Keys of this destination in a configuration. */
export const jsonlEntries = { ...ownEntries, ...deliveryEntries }

/** @throws SondeError `JSL_OPTION` if an option is not allowed. */
export function jsonlTarget(options: Pick<JsonlOptions, 'url' | 'headers'>): JsonlTarget {
  const { url: given, headers } = checkOptions(ownEntries, options, 'JSL_OPTION', ' of jsonl')
  const url = new URL(given)
  const { username, password } = url
  // `fetch` refuses an address with a password, and its error shows the password.
  url.username = ''
  url.password = ''
  const login = decodeURIComponent(`${username}:${password}`)
  const basic = username === '' ? {} : { authorization: `Basic ${Buffer.from(login).toString('base64')}` }
  return {
    url: url.href,
    headers: { ...basic, ...headers, 'content-type': 'application/x-ndjson' },
    secrets: [...Object.values(headers), ...Object.values(basic), password, url.search].filter((text) => text !== ''),
  }
}

function isHttp(text: string): boolean {
  const { protocol = '', username = '', password = '' } = URL.parse(text) ?? {}
  try {
    decodeURIComponent(username + password)
  } catch {
    // A percent sign that begins no character cannot be sent.
    return false
  }
  return /^https?:$/.test(protocol)
}
