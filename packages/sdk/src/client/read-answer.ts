import type { ErrorAnswer } from '../api/answers.ts'
import { SondeError } from '../errors.ts'
import { retryAfterMs } from '../internal/backoff.ts'
import { printable } from '../internal/shown-text.ts'

/** Limit of an answer; a longer answer is not read. Unit: bytes. */
const ANSWER_LIMIT_BYTES = 64 << 20
/** Length of the quote of an answer that is not of Sonde. Unit: characters. */
const QUOTED_LENGTH = 200

/** Statuses of requests that may succeed later. */
const LATER: ReadonlySet<number> = new Set([429, 502, 503, 504])

/** An error with what a retry needs to know. */
export class FailedRequest extends Error {
  readonly error: SondeError
  /** Whether the same request may succeed later. */
  readonly isForLater: boolean
  /** The pause that the server asks for. Unit: milliseconds. */
  readonly afterMs: number | undefined

  constructor(error: SondeError, retry: { readonly isForLater: boolean; readonly afterMs?: number | undefined }) {
    super(error.message, { cause: error })
    this.error = error
    this.isForLater = retry.isForLater
    this.afterMs = retry.afterMs
  }
}

/** The JSON of an answer. @throws FailedRequest if the answer is an error, or is not of Sonde. */
export async function answerJson<T>(response: Response): Promise<T> {
  const text = await textOf(response)
  if (!response.ok) throw failureOf(response, text)
  try {
    return JSON.parse(text) as T
  } catch (cause) {
    throw new FailedRequest(otherProgram(response, text, cause), { isForLater: false })
  }
}

/** The error that an answer with a status of failure tells. */
export function failureOf({ status, url, headers }: Response, text: string): FailedRequest {
  const afterMs = retryAfterMs(headers.get('retry-after') ?? undefined, Date.now())
  const retry = { isForLater: LATER.has(status), afterMs }
  const told = errorIn(text)
  if (told === undefined) return new FailedRequest(otherProgram({ status, url }, text), retry)
  const retryAfterS = afterMs === undefined ? undefined : Math.ceil(afterMs / 1000)
  const more = retryAfterS === undefined ? {} : { retryAfterS }
  return new FailedRequest(new SondeError(told.code, told.message, more), retry)
}

function errorIn(text: string): ErrorAnswer['error'] | undefined {
  try {
    const { error } = JSON.parse(text) as Partial<ErrorAnswer>
    return typeof error?.code === 'string' && typeof error.message === 'string' ? error : undefined
  } catch {
    // A proxy may answer with its own page.
    return undefined
  }
}

function otherProgram({ status, url }: Pick<Response, 'status' | 'url'>, text: string, cause?: unknown): SondeError {
  const quote = JSON.stringify(printable(text.slice(0, QUOTED_LENGTH)))
  const place = URL.canParse(url) ? new URL(url).host : 'the server'
  return new SondeError('CLT_ANSWER', `${place} answers ${status} with ${quote}, which is no answer of Sonde`, {
    cause,
  })
}

/** The text of an answer, of at most {@link ANSWER_LIMIT_BYTES}. */
export async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  const reader = response.body?.getReader()
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
    if (done || value === undefined) return text + decoder.decode()
    bytes += value.byteLength
    if (bytes > ANSWER_LIMIT_BYTES) {
      await reader?.cancel()
      const message = `the answer has more than ${ANSWER_LIMIT_BYTES} bytes; ask for less`
      throw new FailedRequest(new SondeError('CLT_ANSWER', message), { isForLater: false })
    }
    text += decoder.decode(value, { stream: true })
  }
}
