import { type ClientRequest, type IncomingMessage, request as openRequest } from 'node:http'
import { shownUrl } from '../../config/secret.ts'
import type { HttpOptions } from './config.ts'
import { HttpAgent } from './http-agent.ts'
import { httpCredentials } from './http-credentials.ts'
import { textWithout } from './http-result.ts'
import { discard, readStart } from './read-start.ts'

/** Longest beginning of an answer that is read. Unit: bytes. */
const ANSWER_BYTES_MAX = 2048

/** The answer to a request. */
export interface HttpAnswer {
  readonly status: number
  /** A header by its name in lower case. */
  header(name: string): string | undefined
  /** The beginning of the body, at most `answerBytesMax`, without secrets. */
  readonly text: string
  /** The same as bytes, with secrets: texts from it are for {@link HttpAnswer.withoutSecrets}. */
  readonly body: Uint8Array
  /** A text without secrets. */
  withoutSecrets(text: string): string
  /** Whether `text` is all of the body. */
  readonly isWhole: boolean
}

/** One request of an attempt. */
export interface Post {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly signal: AbortSignal
  readonly answerBytesMax?: number | undefined
  /** Whether the body of an answer is waited for if the status is 2xx. */
  readonly isBodyUsed: boolean
}

/** One address of an HTTP destination, with its kept connections. */
export class HttpEndpoint {
  /** The address without secrets. */
  readonly shown: string
  readonly #url: URL
  readonly #options: HttpOptions
  readonly #agent: HttpAgent

  /** @throws OptionFault if a file or variable cannot be read. */
  constructor(url: URL, options: HttpOptions) {
    this.shown = shownUrl(url.href)
    this.#url = url
    this.#options = options
    this.#agent = new HttpAgent(url, options)
  }

  close(): void {
    this.#agent.close()
  }

  /** Sends a request and reads the beginning of its answer. @throws Error if there is no answer. */
  async post(post: Post): Promise<HttpAnswer> {
    const { headers, secrets } = httpCredentials(this.#url, this.#options)
    const response = await this.#send({ ...post, headers: { ...headers, ...post.headers } }, { mayRepeat: true })
    const { statusCode: status = 0 } = response
    const header = (name: string) => {
      const value = response.headers[name]
      return typeof value === 'string' ? value : value?.[0]
    }
    const bytesMax = post.answerBytesMax ?? ANSWER_BYTES_MAX
    const withoutSecrets = (text: string) => textWithout(secrets, text)
    if (status >= 200 && status < 300 && !post.isBodyUsed) {
      // The request has arrived, however slow the rest of the answer is.
      await discard(response, bytesMax)
      return { status, header, text: '', body: Buffer.alloc(0), withoutSecrets, isWhole: false }
    }
    const { body, isWhole } = await readStart(response, bytesMax)
    return { status, header, text: withoutSecrets(body.toString()), body, withoutSecrets, isWhole }
  }

  #send(post: Post, { mayRepeat }: { readonly mayRepeat: boolean }): Promise<IncomingMessage> {
    const { headers, body, signal } = post
    return new Promise((resolve, reject) => {
      const request: ClientRequest = openRequest(this.#url, {
        agent: this.#agent,
        method: 'POST',
        path: this.#agent.pathOf(this.#url),
        headers: { ...headers, ...this.#agent.headers, 'content-length': body.byteLength },
        signal,
      })
      request.once('response', resolve)
      request.on('error', (error: NodeJS.ErrnoException) => {
        // The far end closed a kept connection just before this request.
        const isStale = request.reusedSocket && /^(ECONNRESET|EPIPE)$/.test(error.code ?? '')
        if (isStale && mayRepeat && !signal.aborted) resolve(this.#send(post, { mayRepeat: false }))
        else reject(error)
      })
      request.end(body)
    })
  }
}
