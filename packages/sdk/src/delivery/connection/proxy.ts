import { BlockList, isIP, type Socket } from 'node:net'
import { encrypt, openSocket } from './open-socket.ts'
import type { SocketAddress } from './socket-address.ts'
import type { TlsOptions } from './tls.ts'

/** Longest answer of a proxy before the tunnel. Unit: bytes. */
const ANSWER_BYTES_MAX = 8192

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The proxy for an address; undefined if it is reached directly. An option wins; without it the variables of the
 * environment decide, as with other programs: `https_proxy` or `http_proxy`, and `no_proxy`, in small letters or
 * capitals. By variables, loopback never has a proxy.
 */
export function proxyFor(
  url: URL,
  option: string | undefined,
  environment: Environment = process.env,
): URL | undefined {
  if (option !== undefined) return option === 'none' ? undefined : new URL(option)
  const variable = (name: string) => environment[name] || environment[name.toUpperCase()] || ''
  const proxy = URL.parse(variable(`${url.protocol.slice(0, -1)}_proxy`))
  if (proxy === null || !/^https?:$/.test(proxy.protocol)) return undefined
  const { host, port } = socketAddressOf(url)
  if (/^(localhost|127\.[\d.]+|::1)$|\.localhost$/.test(host)) return undefined
  const isExcepted = variable('no_proxy')
    .split(/[\s,]+/)
    .some((rule) => rule !== '' && matches(rule.toLowerCase(), host, port))
  return isExcepted ? undefined : proxy
}

/** Host and port of a URL. */
export function socketAddressOf({ protocol, hostname, port }: URL): SocketAddress {
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (protocol === 'https:' ? 443 : 80) }
}

/** Whether a rule of `no_proxy` holds: `*`, a host with its subdomains, an address, a network; perhaps with a port. */
function matches(rule: string, host: string, port: number): boolean {
  if (rule === '*') return true
  const [, name = rule, only] = /^\[?(.*?)\]?:(\d+)$/.exec(isIP(rule) === 6 ? `[${rule}]` : rule) ?? []
  if (only !== undefined && Number(only) !== port) return false
  const [network = '', bits] = name.split('/')
  const family = isIP(network) === 6 ? 'ipv6' : 'ipv4'
  if (bits !== undefined && isIP(network) === isIP(host) && isIP(host) !== 0) {
    if (!/^\d{1,3}$/.test(bits) || Number(bits) > (family === 'ipv6' ? 128 : 32)) return false
    const list = new BlockList()
    list.addSubnet(network, Number(bits), family)
    return list.check(host, family)
  }
  const domain = name.replace(/^\*?\./, '')
  return host === domain || host.endsWith(`.${domain}`)
}

/** The header that a proxy with a name and password in its address expects; undefined without them. */
export function proxyAuthorization({ username, password }: URL): string | undefined {
  if (username === '') return undefined
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return `Basic ${Buffer.from(login).toString('base64')}`
}

/**
 * Opens a connection through a proxy (`CONNECT`), which sees only the address. `tls` encrypts what goes through it.
 *
 * @throws Error if the proxy refuses.
 */
export async function openTunnel(
  proxy: URL,
  address: SocketAddress,
  tls: TlsOptions,
  signal: AbortSignal,
): Promise<Socket> {
  const socket = await openProxy(proxy, signal)
  const target = `${isIP(address.host) === 6 ? `[${address.host}]` : address.host}:${address.port}`
  const authorization = proxyAuthorization(proxy)
  const login = authorization === undefined ? '' : `proxy-authorization: ${authorization}\r\n`
  socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n${login}\r\n`)
  const answer = await readHead(socket, signal)
  const [, status] = /^HTTP\/1\.[01] (\d{3})/.exec(answer) ?? []
  if (status !== '200') {
    socket.destroy()
    throw new Error(
      `the proxy ${proxy.host} does not connect to ${target}: ${status === undefined ? 'no HTTP' : `HTTP ${status}`}`,
    )
  }
  return encrypt(socket, address, tls, signal)
}

/** Opens a connection to a proxy itself. Its certificate is checked against the public CAs. */
export function openProxy(proxy: URL, signal: AbortSignal): Promise<Socket> {
  return openSocket(socketAddressOf(proxy), proxy.protocol === 'https:' ? {} : undefined, signal)
}

/** The head of the answer of a proxy. Nothing follows it before this side speaks. */
function readHead(socket: Socket, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let head = ''
    const settle = (error?: unknown) => {
      signal.removeEventListener('abort', stop)
      socket.off('data', take).off('error', settle).off('close', close).pause()
      if (error === undefined) return resolve(head)
      socket.on('error', () => undefined).destroy()
      reject(error)
    }
    const take = (bytes: Buffer) => {
      head += bytes.toString('latin1')
      if (head.includes('\r\n\r\n')) settle()
      else if (head.length > ANSWER_BYTES_MAX) settle(new Error('the proxy gave an answer without an end'))
    }
    const close = () => settle(new Error('the proxy closed the connection'))
    const stop = () => settle(signal.reason)
    socket.on('data', take).once('error', settle).once('close', close)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
  })
}
