import type { IncomingMessage } from 'node:http'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { SondeError } from '@sonde/sdk'
import { messageOf } from '@sonde/sdk/internal'
import { OutboundClient } from '../outbound/outbound-client.ts'
import { Breaker } from './breaker.ts'
import { ElementReader } from './elements.ts'

/** Time limit of a query for a single time. Unit: milliseconds. */
export const INSTANT_LIMIT_MS = 5000
/** Time limit of a query for a window. Unit: milliseconds. */
export const RANGE_LIMIT_MS = 30_000
/** Size limit of an answer; 2 000 000 values take about half of it. Unit: bytes. */
const ANSWER_LIMIT_BYTES = 128 << 20
/** Size limit of one element; 11 000 values of one series take a third of it. Unit: bytes. */
const ELEMENT_LIMIT_BYTES = 1 << 20
/** Size limit of an answer that explains an error. Unit: bytes. */
const FAULT_LIMIT_BYTES = 64 << 10
/** Path that is requested to check whether the server is reachable. Any answer proves it, whatever its status. */
const ALIVE_PATH = '/-/healthy'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

/** A request to a server. */
export interface ServerRequest {
  /** Below the address of the server: `/api/v1/query_range`. */
  readonly path: string
  /** Sent as a form, because an address has a length limit. Undefined: a GET request. */
  readonly form?: Readonly<Record<string, string>>
  readonly limitMs: number
  /** Depth of the list whose elements are read separately. */
  readonly depthOfList: number
  /** Whether the request runs in the background, so that its failure does not affect callers. Default: false. */
  readonly isAside?: true
}

/**
 * A query for a single time. `nocache` makes VictoriaMetrics answer for the requested time; otherwise it would answer
 * for 30 s earlier. Other servers ignore the parameter.
 */
export function instantOf(form: Readonly<Record<string, string>>): ServerRequest {
  return { path: '/api/v1/query', form: { ...form, nocache: '1' }, limitMs: INSTANT_LIMIT_MS, depthOfList: 3 }
}

/** The part of an answer outside its list. */
export interface AnswerEnvelope {
  readonly status?: string
  readonly data?: unknown
  readonly error?: string
  readonly errorType?: string
  readonly warnings?: readonly string[]
}

/** Sends requests to one server over persistent connections, behind a breaker. */
export class ServerTransport {
  /** Address of the server, without name and password. */
  readonly address: string
  /** Number of requests that were sent. */
  requests = 0
  /** Whether the server is a VictoriaMetrics, by a header of all its answers. */
  isVictoria = false
  readonly #headers: Readonly<Record<string, string>>
  readonly #breaker = new Breaker()
  readonly #client: OutboundClient

  /**
   * @param url Address of the server, `http:` or `https:`; name and password in it become Basic credentials. By
   * default the operator gave it, so that it may be private or loopback.
   * @throws SondeError `QRY_BACKEND_URL` if the address is invalid. The message does not repeat a password.
   */
  constructor(url: string, { allowsPrivate = true }: { readonly allowsPrivate?: boolean } = {}) {
    const place = URL.canParse(url) ? new URL(url) : undefined
    if (place === undefined || (place.protocol !== 'http:' && place.protocol !== 'https:')) {
      throw new SondeError('QRY_BACKEND_URL', 'the address is none; allowed: http://HOST:PORT or https://HOST/PATH')
    }
    const { username, password, origin, pathname } = place
    this.address = `${origin}${pathname.replace(/\/+$/, '')}`
    const given = `${decoded(username)}:${decoded(password)}`
    this.#headers = given === ':' ? {} : { authorization: `Basic ${Buffer.from(given).toString('base64')}` }
    this.#client = new OutboundClient({ allowsPrivate, keepsConnections: true })
  }

  /**
   * Sends one request, and hands on the elements of its list as they arrive.
   *
   * @throws SondeError `QRY_BACKEND` if the server cannot be reached or its answer is invalid, `QRY_BACKEND_TIMEOUT` if
   * it takes too long, `QRY_BACKEND_OPEN` while the breaker is open, `QRY_BACKEND_LIMIT` if the answer would be too
   * large; also errors of `take`.
   */
  async ask(asked: ServerRequest, take: (element: string) => void | Promise<void>): Promise<AnswerEnvelope> {
    const waitMs = asked.isAside ? this.#breaker.openMs : this.#breaker.enter()
    if (waitMs > 0) throw this.#spared(waitMs)
    try {
      const envelope = await this.#send(asked, take)
      if (!asked.isAside) this.#breaker.settle(true)
      return envelope
    } catch (error) {
      if (!asked.isAside) await this.#settle(error)
      throw this.#told(error, asked.limitMs)
    }
  }

  /**
   * Only an unreachable server opens the breaker, and any answer proves that the server is reachable. If a query gets
   * no answer, a second request checks the server. A slow query, or a query that a proxy cuts off, then affects only
   * its caller.
   */
  async #settle(error: unknown): Promise<void> {
    if (!isOfConnection(error)) {
      this.#breaker.settle(true)
      return
    }
    const settled = this.#isAlive().then((isAlive) => this.#breaker.settle(isAlive))
    // A client whose request timed out has waited long enough.
    if (!isTimeout(error)) await settled
  }

  async #isAlive(): Promise<boolean> {
    try {
      const response = await this.#open(ALIVE_PATH, INSTANT_LIMIT_MS)
      response.destroy()
      return true
    } catch {
      return false
    }
  }

  #open(path: string, limitMs: number, form?: ServerRequest['form']): Promise<IncomingMessage> {
    const headers = { accept: 'application/json', 'accept-encoding': 'gzip', ...this.#headers }
    const url = `${this.address}${path}`
    if (form === undefined) return this.#client.open({ url, method: 'GET', headers, limitMs })
    const body = new URLSearchParams(form).toString()
    return this.#client.open({ url, method: 'POST', headers: { ...headers, ...FORM }, body, limitMs })
  }

  async #send({ path, form, limitMs, depthOfList }: ServerRequest, take: (element: string) => void | Promise<void>) {
    this.requests++
    const response = await this.#open(path, limitMs, form)
    const { statusCode: status = 0, headers } = response
    this.isVictoria = headers['x-server-hostname'] !== undefined
    if (status >= 300) throw await this.#refused(response)
    const reader = new ElementReader(depthOfList, ELEMENT_LIMIT_BYTES)
    let bytes = 0
    for await (const piece of bodyOf(response)) {
      bytes += piece.length
      if (bytes > ANSWER_LIMIT_BYTES) throw new RangeError(`the answer has over ${ANSWER_LIMIT_BYTES} bytes`)
      for (const element of reader.push(piece)) await take(element)
    }
    const envelope = reader.envelope() as AnswerEnvelope | null
    if (envelope?.status !== 'success')
      throw new SondeError('QRY_BACKEND', `${this.address} answers, and not as a Prometheus does`)
    return envelope
  }

  async #refused(response: IncomingMessage): Promise<SondeError> {
    const { statusCode: status = 0 } = response
    const { error, errorType } = await faultOf(response)
    const said = error === '' ? '' : `: ${error}`
    if (status < 400) {
      return new SondeError(
        'QRY_BACKEND',
        `${this.address} answers with a redirect (${status}), which is not followed; give the address that it names`,
      )
    }
    if (status === 401 || status === 403)
      return new SondeError(
        'QRY_BACKEND',
        `${this.address} refuses (${status}); give name and password: http://NAME:PASSWORD@HOST`,
      )
    if (errorType === 'timeout' || errorType === 'canceled' || status === 499 || status === 504)
      return new SondeError('QRY_BACKEND_TIMEOUT', `${this.address} gave the question up${said}`)
    if (status === 422 || status === 413)
      return new SondeError(
        'QRY_BACKEND_LIMIT',
        `${this.address} refuses the question as too large${said}; take a larger stepMs, a shorter window, or add matchers`,
      )
    return new SondeError('QRY_BACKEND', `${this.address} answers with ${status}${said}`)
  }

  #told(error: unknown, limitMs: number): SondeError {
    if (!isOfConnection(error) && error instanceof SondeError) return error
    if (isTimeout(error)) {
      const message = `${this.address} did not answer within ${limitMs / 1000} s; ask for a shorter window, or look at the server`
      return new SondeError('QRY_BACKEND_TIMEOUT', message, { cause: error })
    }
    if (error instanceof RangeError) {
      const message = `${this.address} answers with too much: ${error.message}; take a larger stepMs, a shorter window, or add matchers`
      return new SondeError('QRY_BACKEND_LIMIT', message, { cause: error })
    }
    if (error instanceof SyntaxError)
      return new SondeError('QRY_BACKEND', `${this.address} answers, and not as a Prometheus does`, { cause: error })
    const message = `${this.address} cannot be asked: ${messageOf(error)}; is it up, and the address right?`
    return new SondeError('QRY_BACKEND', message, { cause: error })
  }

  #spared(waitMs: number): SondeError {
    const retryAfterS = Math.ceil(waitMs / 1000)
    const message = `${this.address} could not be reached three times within a minute, and is not asked for ${retryAfterS} s`
    return new SondeError('QRY_BACKEND_OPEN', message, { retryAfterS })
  }
}

/** A decoded part of an address; unchanged if its percent signs are no escapes. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Whether no complete answer arrived. The content of an answer, and errors while it is processed, do not count. */
function isOfConnection(error: unknown): boolean {
  if (error instanceof SondeError && error.code.startsWith('OUT_')) return true
  return !(error instanceof SondeError || error instanceof RangeError || error instanceof SyntaxError)
}

function isTimeout(error: unknown): boolean {
  return error instanceof SondeError && error.code === 'OUT_TIMEOUT'
}

/** The body of an answer, unpacked. Leaving it early closes the connection. */
function bodyOf(response: IncomingMessage): AsyncIterable<Buffer> {
  if (response.headers['content-encoding'] !== 'gzip') return response
  // The reader of the unpacked body gets every error.
  return pipeline(response, createGunzip(), () => undefined) as Readable
}

/** The message of a server that refuses a request, shortened; may be empty. */
async function faultOf(response: IncomingMessage): Promise<{ readonly error: string; readonly errorType: string }> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of bodyOf(response)) {
    bytes += piece.length
    if (bytes > FAULT_LIMIT_BYTES) break
    pieces.push(piece)
  }
  try {
    const { error = '', errorType = '' } = JSON.parse(Buffer.concat(pieces).toString()) as AnswerEnvelope
    return { error: String(error).slice(0, 300), errorType: String(errorType) }
  } catch {
    // A proxy answers with its own page, so only the status is known.
    return { error: '', errorType: '' }
  }
}
