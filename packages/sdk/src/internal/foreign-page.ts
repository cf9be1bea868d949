import type { IncomingMessage } from 'node:http'

/** The parts of a request that identify its sender. */
export type RequestHead = Pick<IncomingMessage, 'headers' | 'method'>

/**
 * Whether a browser sends the request for a page of another origin. Such a page cannot read the answer, but its
 * requests would use up streams and queries. Browsers set `Sec-Fetch-Site`, which a page cannot change. Old browsers
 * omit it, and all browsers omit it for HTTP beyond loopback; then `Origin` decides, if it is set. Programs send
 * neither header.
 */
export function isAskedByForeignPage({ headers, method = '' }: RequestHead): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  const { origin, host = '' } = headers
  if (origin === undefined) return false
  const from = urlOf(origin)
  const to = urlOf(`${from?.protocol}//${host}`)
  // Proxies often leave the port out of the `Host` that they hand on. A page of another port of the machine can read no
  // answer; but it could change something.
  const part = isReading(method) ? 'hostname' : 'host'
  return from === undefined || to === undefined || from[part] !== to[part]
}

function urlOf(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined
}

function isReading(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

/**
 * Whether a browser opens the address in a tab, as a link does: the person sees it, and a page cannot do that again and
 * again.
 */
export function isOpenedInTab({ headers }: RequestHead): boolean {
  return headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
}

/** Whether a request has more than one `Host`: a proxy may have judged another one than we would. */
export function hasManyHosts({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): boolean {
  return rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length > 1
}
