import * as v from 'valibot'
import { choice, dictionary, flag, integer, list, pattern, section, setting } from '../../config/kit.ts'
import { secret } from '../../config/secret.ts'
import { type SecretOptions, secretEntries } from './secret-source.ts'
import { parseSocketAddress } from './socket-address.ts'
import { type TlsOptions, tlsEntries } from './tls.ts'

/** Further addresses of a destination at most. */
const ENDPOINTS_MAX = 15

/** How a request body is packed. */
export type Compression = 'none' | 'gzip' | 'zstd'

/** The connection of a destination that speaks HTTP. */
export interface HttpOptions extends SecretOptions<'password'>, SecretOptions<'token'> {
  /** The address: `http:` or `https:`, without name and password. */
  readonly url: string
  /**
   * Further addresses, at most 15. After a failed attempt the next address is used; the first is tried again each
   * minute. Default: none.
   */
  readonly endpoints?: readonly string[]
  /** Headers of each request. Default: none. */
  readonly headers?: Readonly<Record<string, string>>
  /** Name for basic authentication; `password` is its secret. Default: none is sent. */
  readonly username?: string | undefined
  /** How certificates are checked, and which certificate is shown. */
  readonly tls?: TlsOptions
  /**
   * Address of a proxy, `http:` or `https:`, or `none`. Default: that of the environment (`https_proxy`,
   * `http_proxy`, `no_proxy`, also in capitals).
   */
  readonly proxy?: string | undefined
  /** How request bodies are packed. Default: `none`. `zstd` needs Node 22.15. */
  readonly compression?: Compression
  /** Bytes of request bodies a second at most. Range: 1 KiB to 1 TiB. Default: no limit. */
  readonly rateLimitBytesPerSecond?: number | undefined
}

/** The connection of a destination that speaks its own protocol over TCP. */
export interface SocketOptions {
  /** Name or address of the far end. */
  readonly host?: string
  /** Port of the far end. Range: 1 to 65 535. */
  readonly port?: number
  /**
   * Further addresses, `host:port`, at most 15. After a failed attempt the next address is used; the first is tried
   * again each minute. Default: none.
   */
  readonly endpoints?: readonly string[]
  /** Whether the connection is encrypted (`enabled`, default: false), and how certificates are checked. */
  readonly tls?: TlsOptions & { readonly enabled?: boolean | undefined }
  /** Bytes a second at most. Range: 1 KiB to 1 TiB. Default: no limit. */
  readonly rateLimitBytesPerSecond?: number | undefined
}

const URL_WORDS =
  'an address of http: or https: without name and password, such as https://collector.example:4318/records'
const PROXY_WORDS = 'none, or an address of http: or https:, such as http://proxy.example:3128'
const HEADER_WORDS =
  'headers by name, except those of the connection itself; their values one line of ASCII, such as { x-scope: team }'
/** Headers of the connection itself belong to HTTP. */
const RESERVED_HEADERS = ['transfer-encoding', 'content-length', 'connection', 'upgrade', 'expect', 'te', 'trailer']
/** Both cases are spelled out, because patterns of JSON Schema have no flags. */
const RESERVED = RESERVED_HEADERS.join('|').replaceAll(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`)
const HEADER_NAME = new RegExp(`^(?!(?:${RESERVED})$)[\\w!#$%&'*+.^\`|~-]{1,128}$`)
const HEADER_VALUE = /^[\t\x20-\x7e]{0,8192}$/
/** Without `\p{Cc}`, which needs a flag. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are refused
const USER_NAME = /^[^:\u0000-\u001f\u007f-\u009f]{1,256}$/
const SOCKET_WORDS = 'host:port such as collector.example:24224, an IPv6 address in brackets'

function httpAddress() {
  // A query may be a secret too.
  return secret(v.pipe(v.string(URL_WORDS), v.maxLength(2048, URL_WORDS), v.check(isHttpAddress, URL_WORDS)), 'url')
}

const rateLimit = v.optional(
  v.pipe(
    integer(1024, 2 ** 40, 'bytes a second'),
    v.description('Bytes that are sent a second at most. Default: no limit'),
  ),
)

/** Schema entries of {@link HttpOptions}. */
export const httpEntries = {
  url: v.pipe(httpAddress(), v.description('Address of the far end, without name and password')),
  endpoints: setting(
    list(httpAddress(), ENDPOINTS_MAX, 'addresses'),
    [],
    'Further addresses, tried in order after a failed attempt; the first is tried again each minute',
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
  username: v.optional(
    v.pipe(pattern(USER_NAME, 'a name without a colon'), v.description('Name for basic authentication')),
  ),
  ...secretEntries('password', 'the password of `username`'),
  ...secretEntries('token', 'a token that is sent as `Authorization: Bearer`'),
  tls: section(tlsEntries),
  proxy: v.optional(
    v.pipe(
      secret(v.union([v.literal('none'), v.pipe(v.string(), v.check(isProxyAddress))], PROXY_WORDS), 'url'),
      v.description(
        'Address of a proxy, or `none`. Default: that of the environment (`https_proxy`, `http_proxy`, `no_proxy`, also in capitals)',
      ),
    ),
  ),
  compression: setting(
    choice(['none', 'gzip', 'zstd']),
    'none',
    'How requests are packed; `zstd` needs a Node from 22.15 on, and a far end that knows it',
  ),
  rateLimitBytesPerSecond: rateLimit,
}

/** Schema entries of {@link SocketOptions}, with the defaults of a protocol. */
export function socketEntries(fallback: { readonly host: string; readonly port: number }) {
  return {
    host: setting(
      secret(pattern(/^[A-Za-z0-9_.:%-]{1,253}$/, 'a host name or an address'), 'address'),
      fallback.host,
      'Name or address of the far end',
    ),
    port: setting(integer(1, 65_535, 'a port'), fallback.port, 'Port of the far end'),
    endpoints: setting(
      list(
        secret(v.pipe(v.string(SOCKET_WORDS), v.check(isSocketAddress, SOCKET_WORDS)), 'address'),
        ENDPOINTS_MAX,
        'addresses',
      ),
      [],
      'Further addresses `host:port`, tried in order after a failed attempt; the first is tried again each minute',
    ),
    tls: section({ enabled: setting(flag(), false, 'Whether the connection is encrypted'), ...tlsEntries }),
    rateLimitBytesPerSecond: rateLimit,
  }
}

function isHttpAddress(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) return false
  return url.username === '' && url.password === '' && url.port !== '0'
}

/** A proxy may have a name and password, as in the variables of the environment. */
function isProxyAddress(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.port !== '0'
}

function isSocketAddress(text: string): boolean {
  return parseSocketAddress(text) !== undefined
}
