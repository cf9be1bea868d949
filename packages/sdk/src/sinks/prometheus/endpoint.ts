import { isIPv6 } from 'node:net'
import { SondeError, shown } from '../../errors.ts'

/** Where a listener listens. */
export interface Endpoint {
  /** An address or a name; without brackets. */
  readonly host: string
  /** 0 is any free port. */
  readonly port: number
}

const FORM = /^(?:http:\/\/)?(\[[0-9A-Fa-f:.%\w]+\]|[A-Za-z0-9_.-]+):(\d{1,5})\/?$/

/**
 * Parses `http://host:port` or `host:port`; an IPv6 address is in brackets. Pure. `place` is its name in errors.
 *
 * @throws SondeError `PRM_ENDPOINT` with the place, the value and the allowed values.
 */
export function parseEndpoint(text: string, place: string): Endpoint {
  const [, name = '', digits = ''] = FORM.exec(text) ?? []
  const host = name.startsWith('[') ? name.slice(1, -1) : name
  const port = Number(digits)
  if (host !== '' && port <= 65_535 && (!name.startsWith('[') || isIPv6(host))) return { host, port }
  throw new SondeError(
    'PRM_ENDPOINT',
    `${place} is ${shown(text)}; allowed: http://host:port or host:port, such as http://127.0.0.1:9101; TLS and paths are not`,
  )
}

/** The endpoint as an address. */
export function addressOf({ host, port }: Endpoint): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
