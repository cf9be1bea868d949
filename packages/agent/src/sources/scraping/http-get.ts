import type { IncomingMessage } from 'node:http'
import { request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import { messageOf } from '@sonde/sdk/internal'
import { FairLimit } from '../../processor/fair-limit.ts'
import { ownReadings } from '../../processor/readings.ts'
import type { Credentials } from './credentials.ts'
import { type RefusalReason, ScrapeRefusal } from './refusal.ts'

/** How an exporter is asked. */
export interface GetOptions {
  /** Time for the whole answer, in which this process has its processors. Unit: milliseconds. */
  readonly timeoutMs: number
  /** Bytes of the answer at most. */
  readonly bytesMax: number
  /** Ends it. */
  readonly signal: AbortSignal
  /** Default: nothing is shown. */
  readonly credentials?: Credentials
}

/** The body of an answer. */
export interface Answer {
  readonly body: Uint8Array
  readonly isOpenMetrics: boolean
}

/** Of what an exporter answers so much is in a message. Unit: characters. */
const QUOTED_LENGTH_MAX = 200
const NOTHING = () => undefined
const ACCEPT = 'text/plain;version=0.0.4'
/** What a body takes at first, and beyond that what doubles as it comes. Unit: bytes. */
const BODY_BYTES_MIN = 64 << 10

/**
 * Asks an address once. Nothing but a whole answer of status 200 counts: no redirect is followed, and what is longer
 * or slower than allowed is refused while it comes.
 *
 * @throws ScrapeRefusal with address and reason.
 */
export async function httpGet(address: string, options: GetOptions): Promise<Answer> {
  const { timeoutMs, bytesMax, signal } = options
  const late = new AbortController()
  // An exporter is not blamed for time in which this process had no processor.
  const limit = new FairLimit({ limitMs: timeoutMs, read: ownReadings, onOver: () => late.abort(), onShort: NOTHING })
  const ended = new AbortController()
  // Who was shown a secret may repeat it in what it answers.
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
    if (statusCode !== 200) throw fault('status', `answers ${statusCode}: what it tells of is not known`)
    const packing = headers['content-encoding'] ?? 'identity'
    if (packing !== 'identity') throw fault('packed', `answers packed as ${quoted(packing)}, unasked`)
    if (Number(headers['content-length']) > bytesMax) throw isTooLong()
    const isOpenMetrics = headers['content-type']?.startsWith('application/openmetrics-text') === true
    return { body: await bodyOf(response, bytesMax, isTooLong), isOpenMetrics }
  } catch (error) {
    if (error instanceof ScrapeRefusal) throw error
    if (late.signal.aborted) throw fault('unanswered', `gave no whole answer within ${timeoutMs} ms`, error)
    if (response !== undefined)
      throw fault('truncated', `ended its answer in the middle (${messageOf(error)}): nothing of it is taken`, error)
    throw fault('unanswered', `does not answer: ${messageOf(error)}`, error)
  } finally {
    limit.stop()
    // What was not read of an answer does not come any more.
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
    // A connection of its own: what one exporter leaves of an answer meets no other request.
    request(address, { headers, signal, agent: false, ...tls }, (response) => {
      answer = response
      resolve(response)
    })
      .on('error', (error: NodeJS.ErrnoException) => {
        reject(error)
        // Bytes behind the end that the length says: the length is wrong, and so is the end.
        if (error.code?.startsWith('HPE_')) answer?.destroy(error)
      })
      .end()
  })
}

/** The body of an answer, in one piece: its parts are copied as they come, and not all at its end. */
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
