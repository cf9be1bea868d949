import { messageOf, SondeError } from '@sonde/sdk'

const TIMEOUT_MS = 30_000
const BODY_LIMIT_BYTES = 64 << 20

/** Where a Prometheus-compatible server is asked. */
export class PrometheusClient {
  /** As it may be shown: without user and password. */
  readonly shown: string
  readonly #url: URL
  readonly #headers: Record<string, string>

  /** @throws SondeError `BKD_URL` where the address is no http or https URL. */
  constructor(address: string) {
    const url = URL.canParse(address) ? new URL(address) : undefined
    if (url === undefined || !/^https?:$/.test(url.protocol))
      throw new SondeError('BKD_URL', 'the address of the Prometheus is no URL; allowed: http://HOST:9090, or https')
    const { username, password } = url
    url.username = ''
    url.password = ''
    this.#headers = { 'content-type': 'application/x-www-form-urlencoded' }
    if (username !== '') {
      const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
      this.#headers.authorization = `Basic ${Buffer.from(pair).toString('base64')}`
    }
    this.#url = url
    this.shown = url.href.replace(/\/$/, '')
  }

  /**
   * Asks for a range, by POST: an expression may be long.
   *
   * @throws SondeError `BKD_UNREACHABLE` where no answer came, or one that is too large; `BKD_ANSWER` where it is not
   * JSON; `BKD_REFUSED` where the server refuses the question, with what it says.
   */
  async queryRange(query: string, startMs: number, endMs: number, stepMs: number): Promise<unknown> {
    const form = { query, start: String(startMs / 1000), end: String(endMs / 1000), step: String(stepMs / 1000) }
    const { status, text } = await this.#post('api/v1/query_range', new URLSearchParams(form).toString())
    const body = jsonOf(text)
    if (status === 200) return body
    const { error = '' } = (body ?? {}) as { error?: string }
    if (status === 400 || status === 422)
      throw new SondeError('BKD_REFUSED', `${this.shown} refuses the question: ${String(error).slice(0, 300)}`)
    throw new SondeError('BKD_UNREACHABLE', `${this.shown} answers ${status}; look at that server`)
  }

  async #post(path: string, body: string): Promise<{ readonly status: number; readonly text: string }> {
    try {
      const url = new URL(path, `${this.#url.href.replace(/\/?$/, '/')}`)
      const signal = AbortSignal.timeout(TIMEOUT_MS)
      const response = await fetch(url, { method: 'POST', headers: this.#headers, body, signal, redirect: 'error' })
      return { status: response.status, text: await boundedText(response) }
    } catch (cause) {
      const reason = messageOf((cause as Error).cause ?? cause)
      throw new SondeError(
        'BKD_UNREACHABLE',
        `${this.shown} gives no answer: ${reason}; is it up, and its address right?`,
        { cause },
      )
    }
  }
}

async function boundedText(response: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of response.body ?? []) {
    bytes += part.byteLength
    if (bytes > BODY_LIMIT_BYTES) throw new Error(`its answer has over ${BODY_LIMIT_BYTES} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new SondeError(
      'BKD_ANSWER',
      'the answer of the Prometheus is no JSON; is it a Prometheus-compatible server?',
      { cause },
    )
  }
}
