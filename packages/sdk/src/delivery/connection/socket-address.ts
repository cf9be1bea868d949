import { isIPv6 } from 'node:net'

/** Where a far end listens. */
export interface SocketAddress {
  /** A name or an address; without brackets. */
  readonly host: string
  readonly port: number
}

const FORM = /^(\[[0-9A-Fa-f:.%\w]+\]|[A-Za-z0-9_.-]{1,253}):(\d{1,5})$/

/** Parses `host:port`; an IPv6 address is in brackets. Undefined for any other text, and for port 0. Pure. */
export function parseSocketAddress(text: string): SocketAddress | undefined {
  const [, name = '', digits = ''] = FORM.exec(text) ?? []
  const host = name.startsWith('[') ? name.slice(1, -1) : name
  const port = Number(digits)
  if (host === '' || port < 1 || port > 65_535 || (name.startsWith('[') && !isIPv6(host))) return undefined
  return { host, port }
}

/** The text of an address: `host:port`. Pure. */
export function socketAddressText({ host, port }: SocketAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** The addresses of a destination, the preferred address first. Pure; the options are checked. */
export function socketAddresses(
  first: SocketAddress,
  further: readonly string[] = [],
): readonly [SocketAddress, ...SocketAddress[]] {
  return [first, ...further.flatMap((text) => parseSocketAddress(text) ?? [])]
}
