import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { networkInterfaces } from 'node:os'

/** Limit of an answer of an agent; a longer answer is not read. 10 000 pods take a sixth of it. Unit: bytes. */
export const ANSWER_LIMIT_BYTES = 64 << 20

/** The status and text of an answer. */
export interface AgentAnswer {
  readonly status: number
  readonly text: string
}

/**
 * Asks the program at an address, which may be no agent: redirects, and answers above {@link ANSWER_LIMIT_BYTES}, are
 * refused.
 *
 * @param limitMs Longest time for the whole answer. Unit: milliseconds.
 * @throws Error if there is no answer, or it is refused.
 */
export async function answerAt(url: string, limitMs: number): Promise<AgentAnswer> {
  const signal = AbortSignal.timeout(limitMs)
  if (isOfThisMachine(url)) return answerOverTls(url, signal)
  const response = await fetch(url, { signal, redirect: 'error' })
  return { status: response.status, text: await boundedText(response.body ?? []) }
}

/** Whether it is an address of this machine with TLS. */
function isOfThisMachine(address: string): boolean {
  const { protocol, hostname } = new URL(address)
  const own = Object.values(networkInterfaces()).flatMap((each = []) => each.map((place) => place.address))
  return protocol === 'https:' && own.includes(hostname.replace(/^\[|\]$/g, ''))
}

/**
 * The certificate of a server is for its names, not for the addresses of this machine, and without TLS nothing would
 * prove whose server it is either: so it is not checked.
 */
async function answerOverTls(url: string, signal: AbortSignal): Promise<AgentAnswer> {
  const asked = request(url, { signal, rejectUnauthorized: false, agent: false }).end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  const { statusCode: status = 0 } = response
  if (status >= 300 && status < 400) throw new Error('a redirect')
  return { status, text: await boundedText(response) }
}

async function boundedText(body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.byteLength
    if (bytes > ANSWER_LIMIT_BYTES) throw new Error(`an answer of more than ${ANSWER_LIMIT_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
