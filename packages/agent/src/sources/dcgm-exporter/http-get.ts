import { messageOf, SondeError } from '@sonde/sdk'

/** How an exporter is asked. */
export interface GetOptions {
  /** Time for the whole answer. Unit: milliseconds. */
  readonly timeoutMs: number
  /** Bytes of the answer at most, unpacked. */
  readonly bytesMax: number
  /** Ends it. */
  readonly signal: AbortSignal
}

/** The body of an answer. */
export interface Answer {
  readonly body: Uint8Array
  readonly isOpenMetrics: boolean
}

const ACCEPT = 'text/plain;version=0.0.4'

/**
 * Asks an address once. Nothing but a whole answer of status 200 counts: no redirect is followed, and what is longer
 * or slower than allowed is refused while it comes.
 *
 * @throws SondeError `SRC_SCRAPE` with address and reason.
 */
export async function httpGet(address: string, { timeoutMs, bytesMax, signal }: GetOptions): Promise<Answer> {
  const limit = AbortSignal.timeout(timeoutMs)
  const ended = new AbortController()
  const fault = (why: string, cause?: unknown) => new SondeError('SRC_SCRAPE', `${address} ${why}`, { cause })
  try {
    const response = await fetch(address, {
      headers: { accept: ACCEPT, 'accept-encoding': 'identity' },
      redirect: 'manual',
      signal: AbortSignal.any([limit, signal, ended.signal]),
    })
    if (response.status >= 300 && response.status < 400)
      throw fault(`redirects to ${where(response)}, which is not followed; give the address itself`)
    if (response.status !== 200) throw fault(`answers ${response.status}: what its GPUs do is not known`)
    const isOpenMetrics = response.headers.get('content-type')?.startsWith('application/openmetrics-text') === true
    if (Number(response.headers.get('content-length')) > bytesMax) throw fault(tooLong(bytesMax))
    return { body: await bodyOf(response, bytesMax, () => fault(tooLong(bytesMax))), isOpenMetrics }
  } catch (error) {
    if (error instanceof SondeError) throw error
    if (limit.aborted) throw fault(`gave no whole answer within ${timeoutMs} ms`, error)
    throw fault(`does not answer: ${reasonOf(error)}`, error)
  } finally {
    // What was not read of an answer does not come any more.
    ended.abort()
  }
}

async function bodyOf(response: Response, bytesMax: number, tooLong: () => Error): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > bytesMax) throw tooLong()
    chunks.push(chunk)
  }
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks, bytes)
}

function tooLong(bytesMax: number): string {
  return `answers with more than ${bytesMax} bytes; max_bytes of the source allows more`
}

function where({ headers }: Response): string {
  return JSON.stringify((headers.get('location') ?? '').slice(0, 200))
}

/** The cause that a failed request names, such as `connect ECONNREFUSED 127.0.0.1:9400`. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  return messageOf(cause ?? error)
}
