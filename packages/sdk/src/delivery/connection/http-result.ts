import { HIDDEN } from '../../config/secret.ts'
import { retryAfterMs } from '../../internal/backoff.ts'
import { printable } from '../../internal/shown-text.ts'
import type { SendResult } from '../sender.ts'

/**
 * Statuses of requests that may succeed later: the request took too long, or came too early or too often, or the far
 * end has a fault of its own. A wrong token, a missing right or a wrong path (401, 403, 404) is not the fault of the
 * records: somebody can fix it, and a queue on disk waits for that.
 */
export const RETRIED_STATUSES: ReadonlySet<number> = new Set([
  ...[401, 403, 404, 408, 425, 429],
  ...Array.from({ length: 100 }, (_, index) => 500 + index),
])
/** Statuses that say why a request was refused. */
const CAUSES: ReadonlyMap<number, 'size' | 'content'> = new Map([
  [400, 'content'],
  [413, 'size'],
  [422, 'content'],
])
const ANSWER_BYTES_MAX = 2048
const REASON_CHARACTERS_MAX = 200

/** What {@link resultOf} reads of an answer. */
export interface AnswerParts {
  readonly status: number
  /** The header `Retry-After`. */
  readonly retryAfter: string | undefined
  /** The beginning of the body, without secrets. */
  readonly text: string
  /** Statuses after which the same request is sent again. */
  readonly retried: ReadonlySet<number>
}

/**
 * Maps the answer to an HTTP request, as `fetch` returns it, to a result for delivery: 2xx is `ok`; 5xx, 401, 403, 404,
 * 408, 425 and 429 are `retry` after the time of `Retry-After`; any other status is `reject`, because the same request
 * would get the same answer. The reason is the status and the first line of the body, without `secrets`, because a peer
 * may repeat the request. The body is read up to 2 KiB, so that the connection can be used again.
 *
 * @example
 * send: async (body, signal) =>
 *   httpResult(await fetch(url, { method: 'POST', body, signal, redirect: 'manual' }), [password])
 */
export async function httpResult(response: Response, secrets: readonly string[] = []): Promise<SendResult> {
  const text = textWithout(secrets, await startOf(response))
  const retryAfter = response.headers.get('retry-after') ?? undefined
  return resultOf({ status: response.status, retryAfter, text, retried: RETRIED_STATUSES })
}

/** The result of an answer for delivery: see {@link httpResult}. */
export function resultOf({ status, retryAfter, text, retried }: AnswerParts): SendResult {
  if (status >= 200 && status < 300) return { outcome: 'ok' }
  // Control characters of a far end could forge lines of a log or move the cursor of a terminal.
  const said = printable(text.split('\n', 1)[0] ?? '')
  const isRedirect = status >= 300 && status < 400
  const reason = `HTTP ${status} ${isRedirect ? 'redirects, which is not followed' : said}`
  const shown = reason.trim().slice(0, REASON_CHARACTERS_MAX)
  if (!retried.has(status)) {
    const because = CAUSES.get(status)
    return { outcome: 'reject', reason: shown, ...(because === undefined ? {} : { because }) }
  }
  const afterMs = retryAfterMs(retryAfter, Date.now())
  return afterMs === undefined ? { outcome: 'retry', reason: shown } : { outcome: 'retry', reason: shown, afterMs }
}

/** A text of a far end without secrets. Call it before the text is cut: half a secret is a secret too. */
export function textWithout(secrets: readonly string[], text: string): string {
  return secrets.reduce((words, secret) => words.replaceAll(secret, HIDDEN), text)
}

async function startOf(response: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  // A break of the loop cancels the body.
  for await (const piece of response.body ?? []) {
    pieces.push(piece)
    bytes += piece.byteLength
    if (bytes > ANSWER_BYTES_MAX) break
  }
  return Buffer.concat(pieces).toString('utf8', 0, ANSWER_BYTES_MAX)
}
