import { isIP } from 'node:net'

/** The host names under which a server answers. */
export interface HostRule {
  /** Whether only this machine can reach the server. */
  readonly isLoopback: boolean
  /** Names in lower case: exact, `*.domain`, or `*` for all. */
  readonly names: readonly string[]
}

/**
 * The rule of a listener. A foreign page in a browser may point its own host name at this server (DNS rebinding) and
 * could then read all answers; but it cannot change the `Host` header. So the page and the API answer only under names
 * that no stranger can own: on loopback, the names of loopback; elsewhere, any address and the name of this machine;
 * and the names that the configuration allows.
 */
export function hostRule(listenHost: string, nodeName: string, allowedHosts: readonly string[]): HostRule {
  const isLoopback = isLoopbackName(listenHost.toLowerCase())
  const own = isLoopback
    ? []
    : [nodeName, nodeName.split('.')[0] ?? nodeName, ...(isIP(listenHost) ? [] : [listenHost])]
  return { isLoopback, names: [...own, ...allowedHosts].map((name) => name.toLowerCase()) }
}

/** Whether a request that carries this `Host` is answered. None at all is: browsers always send one. */
export function allowsHost({ isLoopback, names }: HostRule, header: string | undefined): boolean {
  if (header === undefined || header === '') return true
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::\d{1,5})?$/.exec(header.toLowerCase())
  if (match === null) return false
  const name = (match[1] ?? match[2] ?? '').replace(/\.$/, '')
  if (isLoopbackName(name) || (!isLoopback && isIP(name) !== 0)) return true
  return names.some((allowed) => {
    if (allowed.startsWith('*.')) return name.endsWith(allowed.slice(1)) && name.length >= allowed.length
    return allowed === '*' || allowed === name
  })
}

function isLoopbackName(name: string): boolean {
  if (name === 'localhost' || name.endsWith('.localhost') || name === '::1') return true
  return isIP(name) === 4 && name.startsWith('127.')
}
