import type { IncomingMessage } from 'node:http'
import { request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import { isCertificateFault, messageOf } from '@sonde/sdk/internal'
import { FairLimit } from '../../processor/fair-limit.ts'
import { ownReadings } from '../../processor/readings.ts'
import type { Credentials } from './credentials.ts'
import { type RefusalReason, ScrapeRefusal } from './refusal.ts'

/** Options of one HTTP request to an exporter. */
export interface GetOptions {
  /** Limit for the complete answer; time without a processor for this process does not count. Unit: milliseconds. */
  readonly timeoutMs: number
  /** Largest answer. Unit: bytes. */
  readonly bytesMax: number
  /** Aborts the request. */
  readonly signal: AbortSignal
  /** Default: no credentials are sent. */
  readonly credentials?: Credentials
}

/** The body of an answer. */
export interface Answer {
  readonly body: Uint8Array
  readonly isOpenMetrics: boolean
}

/** Longest quotation of an answer in a message. Unit: characters. */
const QUOTED_LENGTH_MAX = 200
const NOTHING = () => undefined
const ACCEPT = 'text/plain;version=0.0.4'
/** First buffer for a body; it doubles as needed. Unit: bytes. */
const BODY_BYTES_MIN = 64 << 10

/**
 * Sends one request. Only a complete answer with status 200 is accepted. Redirects are not followed. An answer that is
 * too long or too slow is refused while it arrives.
 *
 * @throws ScrapeRefusal with address and reason.
 */
export async function httpGet(address: string, options: GetOptions): Promise<Answer> {
  const { timeoutMs, bytesMax, signal } = options
  const late = new AbortController()
  // Time in which this process had no processor is not the exporter's fault.
  const limit = new FairLimit({ limitMs: timeoutMs, read: ownReadings, onOver: () => late.abort(), onShort: NOTHING })
  const ended = new AbortController()
  // A server may repeat the secret in its answer.
  const isShown = options.credentials?.authorization !== undefined
  const quoted = (text = '') => (isShown ? 'something else' : JSON.stringify(text.slice(0, QUOTED_LENGTH_MAX)))
  const fault = (reason: RefusalReason, why: string, cause?: unknown) => new ScrapeRefusal(reason, address, why, cause)
  const isTooLong = () =>
    fault('too_long', `answers with more than ${bytesMax} bytes; max_bytes of the source allows more`)
  let response: IncomingMessage | undefined
  try {
    response = await send(address, AbortSignal.any([late.signal, signal, ended.signal]), options.credentials)
    const { statusCode = 0, headers } = response
    if (statusCode >= 300 && statusCode < 400)
      throw fault('status', `redirects to ${quoted(headers.location)}, which is not followed; give the address itself`)
    if (statusCode === 401 || statusCode === 403)
      throw fault(
        'credentials',
        `refuses (${statusCode}); give username and password_file, bearer_token_file, or cert_file`,
      )
    if (statusCode !== 200) throw fault('status', `answers ${statusCode}: the state of its devices is unknown`)
    const packing = headers['content-encoding'] ?? 'identity'
    if (packing !== 'identity') throw fault('packed', `answers packed as ${quoted(packing)}, unasked`)
    if (Number(headers['content-length']) > bytesMax) throw isTooLong()
    const isOpenMetrics = headers['content-type']?.startsWith('application/openmetrics-text') === true
    return { body: await bodyOf(response, bytesMax, isTooLong), isOpenMetrics }
  } catch (error) {
    if (error instanceof ScrapeRefusal) throw error
    if (late.signal.aborted) throw fault('unanswered', `gave no whole answer within ${timeoutMs} ms`, error)
    if (response !== undefined)
      throw fault(
        'truncated',
        `ended its answer in the middle (${messageOf(error)}): the whole answer is ignored`,
        error,
      )
    if (isCertificateFault(error))
      throw fault(
        'unanswered',
        `has a certificate that is not trusted: ${messageOf(error)}; ca_file names its signers`,
        error,
      )
    throw fault('unanswered', `does not answer: ${messageOf(error)}`, error)
  } finally {
    limit.stop()
    // Stops reading the rest of the answer.
    ended.abort()
  }
}

function send(address: string, signal: AbortSignal, credentials: Credentials = {}): Promise<IncomingMessage> {
  const { authorization, ...tls } = credentials
  const request = address.startsWith('https:') ? requestSecure : requestPlain
  const headers = {
    accept: ACCEPT,
    'accept-encoding': 'identity',
    ...(authorization === undefined ? {} : { authorization }),
  }
  return new Promise((resolve, reject) => {
    let answer: IncomingMessage | undefined
    // Each request has its own connection, so that unread bytes of an answer cannot reach another request.
    request(address, { headers, signal, agent: false, ...tls }, (response) => {
      answer = response
      resolve(response)
    })
      .on('error', (error: NodeJS.ErrnoException) => {
        reject(error)
        // Bytes after the declared end: the length is wrong, so the body is not trusted.
        if (error.code?.startsWith('HPE_')) answer?.destroy(error)
      })
      .end()
  })
}

/** Collects the body in one buffer. Each part is copied when it arrives, not all parts at the end. */
async function bodyOf(response: IncomingMessage, bytesMax: number, tooLong: () => Error): Promise<Uint8Array> {
  let body = Buffer.allocUnsafeSlow(Math.min(BODY_BYTES_MIN, bytesMax))
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    if (bytes + chunk.length > bytesMax) throw tooLong()
    if (bytes + chunk.length > body.length) {
      const longer = Buffer.allocUnsafeSlow(Math.min(bytesMax, Math.max(bytes + chunk.length, 2 * body.length)))
      body.copy(longer, 0, 0, bytes)
      body = longer
    }
    body.set(chunk, bytes)
    bytes += chunk.length
  }
  return body.subarray(0, bytes)
}
