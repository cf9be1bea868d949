import { randomUUID } from 'node:crypto'
import { processTimers, type Timers } from '../../internal/timers.ts'
import type { DeliveryOptions } from '../delivery.ts'
import type { Send, SendResult } from '../sender.ts'
import type { HttpOptions } from './config.ts'
import { Endpoints } from './endpoints.ts'
import { type HttpAnswer, HttpEndpoint } from './http-endpoint.ts'
import { RETRIED_STATUSES, resultOf } from './http-result.ts'
import { packBody } from './pack-body.ts'
import { RateLimit } from './rate-limit.ts'
import { warnIfUnverified } from './tls.ts'

/** A request: the payload of an HTTP destination. Make it with {@link httpRequest}. */
export interface HttpRequest {
  readonly body: string | Uint8Array
  /** The same in each attempt, so that the far end can recognise a repetition. */
  readonly idempotencyKey: string
  /** Headers of this request; they win over those of the protocol. Default: none. */
  readonly headers?: Readonly<Record<string, string>>
  /** The packed body, once it was sent. */
  packed?: Promise<Uint8Array>
}

/** How a protocol uses HTTP. */
export interface HttpProtocol {
  /** Name of the destination, for messages. */
  readonly name: string
  readonly contentType: string
  /** The address of requests, from an address of the configuration. Default: the same. */
  readonly addressOf?: (url: URL) => URL
  /** Statuses after which the same request is sent again. Default: {@link RETRIED_STATUSES}. */
  readonly retried?: ReadonlySet<number>
  /** Longest answer that is read. Unit: bytes. Default: 2048. */
  readonly answerBytesMax?: number
  /**
   * The result of an answer with a status of 2xx, for protocols whose answer has results of single records. Default:
   * `ok`, and the body is ignored.
   */
  readonly resultOf?: (answer: HttpAnswer, request: HttpRequest) => SendResult
  /** The words of an answer with another status. Default: the first line of its text. */
  readonly wordsOf?: (answer: HttpAnswer, request: HttpRequest) => string
}

/** What a {@link HttpClient} is for a delivery. */
export type HttpTransport = Required<Pick<DeliveryOptions<HttpRequest>, 'send' | 'waitMs' | 'close'>>

/** A payload with its key. */
export function httpRequest(body: string | Uint8Array): HttpRequest {
  return { body, idempotencyKey: randomUUID() }
}

/** Sends the requests of one destination over kept connections. Redirects are not followed. */
export class HttpClient {
  /** Makes one attempt: the `send` of a delivery. */
  readonly send: Send<HttpRequest>
  readonly #protocol: HttpProtocol
  readonly #options: HttpOptions
  readonly #endpoints: readonly HttpEndpoint[]
  readonly #rate: RateLimit

  /** @throws OptionFault if a file or variable of the options cannot be read. */
  constructor(protocol: HttpProtocol, options: HttpOptions, timers: Timers = processTimers) {
    const { url, endpoints = [], tls = {}, rateLimitBytesPerSecond } = options
    const { addressOf = (each: URL) => each } = protocol
    const open = (address: string) => new HttpEndpoint(addressOf(new URL(address)), options)
    const all = [open(url), ...endpoints.map(open)] as const
    this.#protocol = protocol
    this.#options = options
    this.#endpoints = all
    this.#rate = new RateLimit(rateLimitBytesPerSecond, timers)
    this.send = new Endpoints(all, timers).send((request, endpoint, signal) => this.#attempt(request, endpoint, signal))
    warnIfUnverified(protocol.name, tls)
  }

  /** What a delivery needs of the client. */
  get transport(): HttpTransport {
    return { send: this.send, waitMs: () => this.waitMs(), close: () => this.close() }
  }

  /** How long the next request waits for the rate limit: the `waitMs` of a delivery. Unit: milliseconds. */
  waitMs(): number {
    return this.#rate.waitMs
  }

  /** Closes all connections. */
  close(): void {
    for (const endpoint of this.#endpoints) endpoint.close()
  }

  async #attempt(request: HttpRequest, endpoint: HttpEndpoint, signal: AbortSignal): Promise<SendResult> {
    const {
      contentType,
      retried = RETRIED_STATUSES,
      answerBytesMax,
      resultOf: resultOfAnswer,
      wordsOf,
    } = this.#protocol
    const { compression = 'none' } = this.#options
    request.packed ??= packBody(request.body, compression)
    const body = await request.packed
    this.#rate.spend(body.byteLength)
    const headers = {
      'content-type': contentType,
      'idempotency-key': request.idempotencyKey,
      ...(compression === 'none' ? {} : { 'content-encoding': compression }),
      ...request.headers,
    }
    const isBodyUsed = resultOfAnswer !== undefined
    const answer = await endpoint.post({ headers, body, signal, answerBytesMax, isBodyUsed })
    const { status } = answer
    if (resultOfAnswer !== undefined && status >= 200 && status < 300) return resultOfAnswer(answer, request)
    const text = wordsOf?.(answer, request) ?? answer.text
    const result = resultOf({ status, retryAfter: answer.header('retry-after'), text, retried })
    if (!('reason' in result) || this.#endpoints.length === 1) return result
    return { ...result, reason: `${endpoint.shown}: ${result.reason}` }
  }
}
