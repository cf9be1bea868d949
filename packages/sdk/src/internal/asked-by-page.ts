import type { IncomingMessage } from 'node:http'

/** A request, as far as it says who asks. */
export type Asked = Pick<IncomingMessage, 'headers' | 'method'>

/**
 * Whether a browser asks for a page of another origin. Such a page cannot read the answer, but its request would still
 * take a place among the streams and queries, as often as the page likes. Browsers say so in `Sec-Fetch-Site`, which a
 * page cannot change. Towards an address that they do not trust (HTTP beyond loopback) they leave it out, as old ones
 * do everywhere; then `Origin` counts, where there is one. Programs send neither.
 */
export function isAskedByForeignPage({ headers, method = '' }: Asked): boolean {
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
export function isOpenedInTab({ headers }: Asked): boolean {
  return headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
}

/** Whether a request has more than one `Host`: a proxy may have judged another one than we would. */
export function hasManyHosts({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): boolean {
  return rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length > 1
}
