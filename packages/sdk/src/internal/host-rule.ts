import { isIP } from 'node:net'

/** What decides under which names the server answers. */
export interface HostRule {
  /** Whether only this machine can reach the server. */
  readonly isLoopback: boolean
  /** Names in lower case: exact, `*.domain`, or `*` for all. */
  readonly names: readonly string[]
}

/**
 * The rule of a listener. A page that a browser has loaded from elsewhere may point its own name at us (DNS rebinding)
 * and would then read everything as if it were ours; but it cannot change the name that the browser sends as `Host`. So
 * the page and the API answer only under names that nobody else can own: on loopback, those of loopback; elsewhere, any
 * address and this machine's name; and what the configuration allows.
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
