import type { ChartLimits } from '../api/chart-request.ts'
import { SondeError, shown } from '../errors.ts'

/** Options of {@link createApiClient}. */
export interface ApiClientOptions {
  /** Address of an agent or a console, with the path of a proxy before it: `https://console.example/sonde`. */
  readonly baseUrl: string
  /** Token of `sonde tokens add`; the role viewer is enough. Default: none, as for a server on this machine. */
  readonly token?: string
  /** Longest time of one attempt. Unit: milliseconds. Range: 100 to 600 000. Default: 15 000. */
  readonly timeoutMs?: number
  /** Further attempts of a request that may succeed later. Range: 0 to 10. Default: 3. */
  readonly retries?: number
  /**
   * Pause before the second attempt. Each further pause is twice as long, and each is shorter by a random part of up to
   * a half. `Retry-After` of the server comes before it. Unit: milliseconds. Range: 1 to 60 000. Default: 500.
   */
  readonly backoffInitialMs?: number
  /** Longest pause; a server that asks for a longer one is not asked again. Range: 1 to 600 000. Default: 15 000. */
  readonly backoffMaxMs?: number
  /**
   * Limits of requests for series of apps, which are checked before anything is sent. Raise them where the server has
   * higher ones. Default: 100 services and 250 000 values, as servers have.
   */
  readonly chartLimits?: ChartLimits
  /** Makes the requests. Default: `fetch`. */
  readonly fetch?: typeof fetch
}

/** {@link ApiClientOptions} with all values. */
export interface CheckedOptions extends Required<Omit<ApiClientOptions, 'token'>> {
  /** Empty: none. */
  readonly token: string
}

const DEFAULTS = {
  ...{ timeoutMs: 15_000, retries: 3, backoffInitialMs: 500, backoffMaxMs: 15_000 },
  chartLimits: { services: 100, cells: 250_000 },
}

/** @throws SondeError `CLT_OPTION` names the option and the allowed values. Tokens are not in the message. */
export function checkedOptions(given: ApiClientOptions): CheckedOptions {
  const { token = '' } = given
  if (!/^[\x21-\x7e]*$/.test(token)) throw wrong('token', 'characters of ASCII without spaces')
  const options = { ...DEFAULTS, fetch: globalThis.fetch.bind(globalThis), ...given, token }
  integerIn('timeoutMs', options.timeoutMs, 100, 600_000)
  integerIn('retries', options.retries, 0, 10)
  integerIn('backoffInitialMs', options.backoffInitialMs, 1, 60_000)
  integerIn('backoffMaxMs', options.backoffMaxMs, 1, 600_000)
  integerIn('chartLimits.services', options.chartLimits.services, 1, Number.MAX_SAFE_INTEGER)
  integerIn('chartLimits.cells', options.chartLimits.cells, 1, Number.MAX_SAFE_INTEGER)
  return { ...options, baseUrl: checkedBase(given.baseUrl) }
}

/** The address without slashes at its end. */
function checkedBase(text: string): string {
  const allowed = 'http://HOST[:PORT][/PATH] or https://…, without a user, a query or a fragment'
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || `${url.username}${url.password}${url.search}${url.hash}`)
    throw wrong('baseUrl', allowed)
  return url.href.replace(/\/+$/, '')
}

function integerIn(name: string, value: number, min: number, max: number): void {
  if (!Number.isInteger(value) || value < min || value > max)
    throw new SondeError('CLT_OPTION', `${name} is ${shown(value)}; allowed: a whole number from ${min} to ${max}`)
}

/** Without the value, which may be or contain a secret. */
function wrong(name: string, allowed: string): SondeError {
  return new SondeError('CLT_OPTION', `${name} is not valid; allowed: ${allowed}`)
}
