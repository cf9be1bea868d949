import { messageOf, SondeError } from '../errors.ts'
import { backoffMs } from '../internal/backoff.ts'
import type { CheckedOptions } from './options.ts'
import { answerJson, FailedRequest, failureOf, textOf } from './read-answer.ts'

/** Pauses are shorter by a random part, so that clients of a server that restarts do not return together. */
const BACKOFF_JITTER = 0.5

/** A request. All of them only read, so each may be sent again. */
export interface ReadRequest {
  /** Path and query. */
  readonly address: string
  readonly accept: string
  /** Sent as JSON by POST. Default: none, by GET. */
  readonly body?: object
  /** Ends the request, and the pauses between attempts. */
  readonly signal?: AbortSignal | undefined
}

/** Sends requests to one server, and sends them again where that can help. */
export class ApiRequests {
  readonly #options: CheckedOptions

  constructor(options: CheckedOptions) {
    this.#options = options
  }

  /** Further attempts of a request. */
  get retries(): number {
    return this.#options.retries
  }

  /**
   * The JSON of an answer.
   *
   * @throws SondeError the error of the last attempt; the reason of the signal if it is aborted.
   */
  async json<T>(request: ReadRequest): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#jsonOnce<T>(request)
      } catch (error) {
        if (!(error instanceof FailedRequest)) throw error
        await this.pauseOrThrow(error, attempt, request.signal)
      }
    }
  }

  /**
   * Waits before the next attempt.
   *
   * @param attempt Attempts so far.
   * @throws SondeError the error, if no further attempt can help.
   */
  async pauseOrThrow(failed: FailedRequest, attempt: number, signal: AbortSignal | undefined): Promise<void> {
    const { retries, backoffInitialMs, backoffMaxMs } = this.#options
    if (!failed.isForLater || attempt > retries || (failed.afterMs ?? 0) > backoffMaxMs) throw failed.error
    const backoff = { backoffInitialMs, backoffMaxMs, backoffJitter: BACKOFF_JITTER }
    await pause(failed.afterMs ?? backoffMs(attempt, backoff, Math.random), signal)
  }

  /**
   * Opens an answer without end. The time limit is for its head.
   *
   * @throws FailedRequest if it cannot be opened.
   */
  async open(request: ReadRequest): Promise<Response> {
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), this.#options.timeoutMs)
    try {
      const response = await this.#fetch(request, late.signal)
      const isAccepted = response.headers.get('content-type')?.startsWith(request.accept) === true
      if (response.ok && isAccepted) return response
      throw failureOf(response, response.ok ? '' : await textOf(response))
    } finally {
      clearTimeout(timer)
    }
  }

  async #jsonOnce<T>(request: ReadRequest): Promise<T> {
    const limit = AbortSignal.timeout(this.#options.timeoutMs)
    const response = await this.#fetch(request, limit)
    return this.#explained(request, limit, () => answerJson<T>(response))
  }

  #fetch({ address, accept, body, signal }: ReadRequest, limit: AbortSignal): Promise<Response> {
    const { baseUrl, token, fetch } = this.#options
    const headers = {
      accept,
      ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    }
    const init: RequestInit = {
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      headers,
      // A redirect could lead the token elsewhere.
      redirect: 'error',
      signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
    }
    return this.#explained({ signal }, limit, () => fetch(`${baseUrl}${address}`, init))
  }

  /** Runs a part of an attempt, and names the cause of its failure. */
  async #explained<T>({ signal }: Pick<ReadRequest, 'signal'>, limit: AbortSignal, run: () => Promise<T>): Promise<T> {
    const { baseUrl, timeoutMs } = this.#options
    try {
      signal?.throwIfAborted()
      return await run()
    } catch (cause) {
      if (cause instanceof FailedRequest) throw cause
      signal?.throwIfAborted()
      const error = limit.aborted
        ? new SondeError('CLT_TIMEOUT', `${baseUrl} gave no whole answer within ${timeoutMs} ms`, { cause })
        : new SondeError('CLT_UNREACHABLE', `${baseUrl} does not answer (${reasonOf(cause)})`, { cause })
      throw new FailedRequest(error, { isForLater: true })
    }
  }
}

/** The innermost cause, because `fetch failed` alone explains nothing. */
function reasonOf(cause: unknown): string {
  const { cause: inner, code } = cause as { readonly cause?: unknown; readonly code?: unknown }
  if (inner instanceof Error) return reasonOf(inner)
  return typeof code === 'string' ? code : messageOf(cause)
}

/** Waits, or rejects with the reason of the signal. */
async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted()
  await new Promise<void>((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}
