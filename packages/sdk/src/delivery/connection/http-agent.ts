import { Agent, type ClientRequestArgs } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { HttpOptions } from './config.ts'
import { openSocket } from './open-socket.ts'
import { openProxy, openTunnel, proxyAuthorization, proxyFor, socketAddressOf } from './proxy.ts'

/** How long a connection may take to open. Unit: milliseconds. */
const OPEN_LIMIT_MS = 10_000
/** How long a connection is kept without requests. Unit: milliseconds. */
const IDLE_LIMIT_MS = 60_000

/** Keeps the connections to one address, directly or through a proxy. Certificates are read for each connection. */
export class HttpAgent extends Agent {
  // Node compares these with the address of a request.
  readonly protocol: string
  readonly defaultPort: number
  readonly #url: URL
  readonly #tls: NonNullable<HttpOptions['tls']>
  readonly #proxy: URL | undefined
  readonly #closing = new AbortController()

  constructor(url: URL, { tls = {}, proxy }: Pick<HttpOptions, 'tls' | 'proxy'>) {
    super({ keepAlive: true, timeout: IDLE_LIMIT_MS })
    this.protocol = url.protocol
    this.defaultPort = socketAddressOf(new URL(`${url.protocol}//host`)).port
    this.#url = url
    this.#tls = tls
    this.#proxy = proxyFor(url, proxy)
  }

  /** Headers for the proxy. Through a tunnel it sees none. */
  get headers(): Readonly<Record<string, string>> {
    const authorization = this.#isForwarded ? this.#proxy && proxyAuthorization(this.#proxy) : undefined
    return authorization === undefined ? {} : { 'proxy-authorization': authorization }
  }

  /** The target of a request line: a proxy for `http:` needs the whole address. */
  pathOf(url: URL): string {
    return this.#isForwarded ? url.href : `${url.pathname}${url.search}`
  }

  get #isForwarded(): boolean {
    return this.#proxy !== undefined && this.#url.protocol === 'http:'
  }

  override createConnection(
    _options: ClientRequestArgs,
    done: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    // Of an error, Node ignores the second argument.
    this.open(AbortSignal.any([AbortSignal.timeout(OPEN_LIMIT_MS), this.#closing.signal])).then(
      (socket) => done(null, socket),
      (error: Error) => done(error, undefined as unknown as Duplex),
    )
  }

  /** Opens a connection that is ready for a request. */
  open(signal: AbortSignal): Promise<Socket> {
    const address = socketAddressOf(this.#url)
    const isSecure = this.#url.protocol === 'https:'
    if (this.#proxy === undefined) return openSocket(address, isSecure ? this.#tls : undefined, signal)
    return isSecure ? openTunnel(this.#proxy, address, this.#tls, signal) : openProxy(this.#proxy, signal)
  }

  /** Closes all connections, also those that are being opened. */
  close(): void {
    this.#closing.abort(new Error('the destination is closed'))
    this.destroy()
  }
}
