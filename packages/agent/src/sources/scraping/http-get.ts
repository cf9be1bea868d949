import type { IncomingMessage } from 'node:http'
import { request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import { messageOf, SondeError } from '@sonde/sdk'
import type { Credentials } from './credentials.ts'

/** How an exporter is asked. */
export interface GetOptions {
  /** Time for the whole answer. Unit: milliseconds. */
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
const ACCEPT = 'text/plain;version=0.0.4'

/**
 * Asks an address once. Nothing but a whole answer of status 200 counts: no redirect is followed, and what is longer
 * or slower than allowed is refused while it comes.
 *
 * @throws SondeError `SRC_SCRAPE` with address and reason.
 */
export async function httpGet(address: string, options: GetOptions): Promise<Answer> {
  const { timeoutMs, bytesMax, signal } = options
  const limit = AbortSignal.timeout(timeoutMs)
  const ended = new AbortController()
  // Who was shown a secret may repeat it in what it answers.
  const isShown = options.credentials?.authorization !== undefined
  const quoted = (text = '') => (isShown ? 'something else' : JSON.stringify(text.slice(0, QUOTED_LENGTH_MAX)))
  const fault = (why: string, cause?: unknown) => new SondeError('SRC_SCRAPE', `${address} ${why}`, { cause })
  try {
    const response = await send(address, AbortSignal.any([limit, signal, ended.signal]), options.credentials)
    const { statusCode = 0, headers } = response
    if (statusCode >= 300 && statusCode < 400)
      throw fault(`redirects to ${quoted(headers.location)}, which is not followed; give the address itself`)
    if (statusCode === 401 || statusCode === 403)
      throw fault(`refuses (${statusCode}); give username and password_file, bearer_token_file, or cert_file`)
    if (statusCode !== 200) throw fault(`answers ${statusCode}: what it tells of is not known`)
    const packing = headers['content-encoding'] ?? 'identity'
    if (packing !== 'identity') throw fault(`answers packed as ${quoted(packing)}, unasked`)
    if (Number(headers['content-length']) > bytesMax) throw fault(tooLong(bytesMax))
    const isOpenMetrics = headers['content-type']?.startsWith('application/openmetrics-text') === true
    return { body: await bodyOf(response, bytesMax, () => fault(tooLong(bytesMax))), isOpenMetrics }
  } catch (error) {
    if (error instanceof SondeError) throw error
    if (limit.aborted) throw fault(`gave no whole answer within ${timeoutMs} ms`, error)
    throw fault(`does not answer: ${messageOf(error)}`, error)
  } finally {
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
    // A connection of its own: what one exporter leaves of an answer meets no other request.
    request(address, { headers, signal, agent: false, ...tls }, resolve)
      .once('error', reject)
      .end()
  })
}

async function bodyOf(response: IncomingMessage, bytesMax: number, tooLong: () => Error): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    bytes += chunk.length
    if (bytes > bytesMax) throw tooLong()
    chunks.push(chunk)
  }
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks, bytes)
}

function tooLong(bytesMax: number): string {
  return `answers with more than ${bytesMax} bytes; max_bytes of the source allows more`
}
