import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import { SondeError } from '@sonde/sdk'
import { type AddressRule, checkedLookup, parseOutboundUrl } from './address-rule.ts'

/** How long an unread rest of an answer may take. Unit: milliseconds. */
const DISCARD_LIMIT_MS = 100
/** Longest unread rest of an answer that is waited for. Unit: bytes. */
const DISCARD_BYTES_MAX = 64 << 10
const HEADER_BYTES_MAX = 16 << 10

/** Errors of the system, in words without address and path. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses the connection',
  ECONNRESET: 'broke off the connection',
  EPIPE: 'broke off the connection',
  EHOSTUNREACH: 'cannot be reached',
  ENETUNREACH: 'cannot be reached',
  ETIMEDOUT: 'does not answer',
  HPE_HEADER_OVERFLOW: `answers with over ${HEADER_BYTES_MAX} bytes of headers`,
}

/** One request to a URL that somebody set. */
export interface OutboundRequest {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  /** Default: no body. */
  readonly body?: string
  /** Time until the connection stands. Unit: milliseconds. Default: 5000, or `limitMs` if that is less. */
  readonly connectLimitMs?: number
  /**
   * Time until the request has its answer, with the parts of the body that are read. Infinity for an answer that does
   * not end. Unit: milliseconds.
   */
  readonly limitMs: number
  readonly signal?: AbortSignal
}

/** The head of an answer. */
export interface OutboundAnswer {
  readonly status: number
  /** A header by its name in lower case. */
  header(name: string): string | undefined
}

/** Options of {@link OutboundClient}. */
export interface OutboundOptions extends AddressRule {
  /** Whether connections are kept for further requests. Default: each request has its own. */
  readonly keepsConnections?: boolean
  /** Certificate and key to show, and certificates (PEM) to trust. Default: none, and those that Node trusts. */
  readonly certificates?: { readonly cert?: string; readonly key?: string; readonly ca?: string } | undefined
}

/**
 * Makes HTTP requests to URLs that somebody set. The address is checked at the moment of the connection. No redirect is
 * followed, no proxy of the environment is used, and every request has limits.
 */
export class OutboundClient {
  readonly #rule: AddressRule
  readonly #certificates: OutboundOptions['certificates']
  readonly #agents: { readonly http: HttpAgent; readonly https: HttpsAgent } | undefined

  constructor({ keepsConnections = false, certificates = {}, ...rule }: OutboundOptions = {}) {
    this.#rule = rule
    this.#certificates = certificates
    const options = { keepAlive: true }
    this.#agents = keepsConnections ? { http: new HttpAgent(options), https: new HttpsAgent(options) } : undefined
  }

  /**
   * Sends a request, and resolves with the answer, whose body is not read yet. Whatever status the answer has, it is an
   * answer: a redirect too.
   *
   * @throws SondeError `OUT_URL`, `OUT_ADDRESS`, `OUT_LOOKUP`, `OUT_CONNECT`, `OUT_TIMEOUT` or `OUT_STOPPED`. While
   * the body is read, it fails with `OUT_TIMEOUT` or an error of the connection.
   */
  async open(asked: OutboundRequest): Promise<IncomingMessage> {
    const url = parseOutboundUrl(asked.url, this.#rule)
    return this.#send(asked, url, { mayRepeat: true })
  }

  /** Sends a request, and resolves with the head of its answer. The body is discarded, however long it is. */
  async send(asked: OutboundRequest): Promise<OutboundAnswer> {
    const response = await this.open(asked)
    const { statusCode: status = 0, headers } = response
    await discard(response)
    return { status, header: (name) => [headers[name]].flat()[0] }
  }

  close(): void {
    this.#agents?.http.destroy()
    this.#agents?.https.destroy()
  }

  #send(asked: OutboundRequest, url: URL, { mayRepeat }: { readonly mayRepeat: boolean }): Promise<IncomingMessage> {
    const { host } = url
    const { limitMs, signal, body } = asked
    const connectLimitMs = Math.min(limitMs, asked.connectLimitMs ?? 5000)
    return new Promise((resolve, reject) => {
      const request = this.#request(url, asked)
      // Once there is an answer, whoever reads it gets the error.
      let answer: IncomingMessage | undefined
      const end = (code: string, message: string) => (answer ?? request).destroy(new SondeError(code, message))
      const late = (words: string) => end('OUT_TIMEOUT', `${host} ${words}`)
      const connecting = setTimeout(() => late(`has no connection after ${connectLimitMs} ms`), connectLimitMs)
      const whole =
        limitMs < Number.POSITIVE_INFINITY
          ? setTimeout(() => late(`gives no whole answer within ${limitMs} ms`), limitMs)
          : undefined
      const stop = () => end('OUT_STOPPED', `the request to ${host} was stopped`)
      if (signal?.aborted === true) stop()
      signal?.addEventListener('abort', stop)
      request.on('close', () => {
        clearTimeout(connecting)
        clearTimeout(whole)
        signal?.removeEventListener('abort', stop)
      })
      whenConnected(request, url, () => clearTimeout(connecting))
      request.once('response', (response) => {
        answer = response
        resolve(response)
      })
      request.on('error', (error: NodeJS.ErrnoException) => {
        // The far end closed a kept connection just before this request.
        const isStale = request.reusedSocket && /^(ECONNRESET|EPIPE)$/.test(error.code ?? '')
        if (isStale && mayRepeat && signal?.aborted !== true) resolve(this.#send(asked, url, { mayRepeat: false }))
        else reject(faultOf(error, host))
      })
      request.end(body)
    })
  }

  #request(url: URL, { method, headers = {}, body }: OutboundRequest): ClientRequest {
    const isSecure = url.protocol === 'https:'
    const options: RequestOptions = {
      method,
      agent: (isSecure ? this.#agents?.https : this.#agents?.http) ?? false,
      headers: { ...headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
      lookup: checkedLookup(this.#rule),
      maxHeaderSize: HEADER_BYTES_MAX,
      ...(isSecure ? this.#certificates : {}),
    }
    try {
      return (isSecure ? httpsRequest : httpRequest)(url, options)
    } catch (cause) {
      // Name or password in the URL are no text of percent signs, or a header has a line break.
      throw new SondeError('OUT_URL', `the URL of ${url.host} has parts that no request can carry`, { cause })
    }
  }
}

function whenConnected(request: ClientRequest, { protocol }: URL, then: () => void): void {
  request.once('socket', (socket: Socket) => {
    if (!socket.connecting) then()
    else socket.once(protocol === 'https:' ? 'secureConnect' : 'connect', then)
  })
}

function faultOf(error: NodeJS.ErrnoException, host: string): SondeError {
  if (error instanceof SondeError) return error
  const { code = '' } = error
  const isOfCertificate = /CERT|TLS|SSL|SIGNATURE/.test(code)
  const words = REASONS[code] ?? (isOfCertificate ? `has no valid certificate (${code})` : `gives no answer (${code})`)
  return new SondeError('OUT_CONNECT', `${host} ${words}`, { cause: error })
}

/** Reads and discards an answer, so that its sender can finish. A long or slow answer is cut off. */
async function discard(response: IncomingMessage): Promise<void> {
  const timer = setTimeout(() => response.destroy(), DISCARD_LIMIT_MS)
  let bytes = 0
  try {
    for await (const piece of response as AsyncIterable<Buffer>) {
      bytes += piece.byteLength
      // Leaving the loop destroys the response.
      if (bytes > DISCARD_BYTES_MAX) break
    }
  } catch {
    // The request has arrived; only the rest of its answer is missing.
  } finally {
    clearTimeout(timer)
  }
}
