import type { IncomingMessage } from 'node:http'

/** A request, as far as it says who asks. */
export type Asked = Pick<IncomingMessage, 'headers'>

/**
 * Whether a browser asks for a page of another origin. Such a page cannot read the answer, but its request would still
 * take a place among the streams and queries, as often as the page likes. Browsers say so in `Sec-Fetch-Site`, which a
 * page cannot change. Towards an address that they do not trust (HTTP beyond loopback) they leave it out; then `Origin`
 * counts, where there is one. Programs send neither.
 */
export function isAskedByForeignPage({ headers }: Asked): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  const { origin, host = '' } = headers
  if (origin === undefined) return false
  // Without the port: proxies often leave it out of the `Host` that they hand on.
  return !URL.canParse(origin) || new URL(origin).hostname !== hostnameOf(host)
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

function hostnameOf(host: string): string | undefined {
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : undefined
}
