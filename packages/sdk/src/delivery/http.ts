import type { SendResult } from './sender.ts'

/** 4xx statuses of requests that may succeed later: the request took too long, or came too early or too often. */
const NOT_NOW: ReadonlySet<number> = new Set([408, 425, 429])
const ANSWER_BYTES_MAX = 2048
const REASON_CHARACTERS_MAX = 200

/**
 * Maps the answer to an HTTP request to a result for delivery: 2xx is `ok`; 5xx, 408, 425 and 429 are `retry` after the
 * time of `Retry-After`; any other status is `reject`, because the same request would get the same answer. The reason
 * is the status and the first line of the body, without `secrets`, because a peer may repeat the request. The body is
 * read up to 2 KiB, so that the connection can be used again.
 *
 * @example
 * send: async (body, signal) =>
 *   httpResult(await fetch(url, { method: 'POST', body, signal, redirect: 'manual' }), [password])
 */
export async function httpResult(response: Response, secrets: readonly string[] = []): Promise<SendResult> {
  const { status, ok, headers } = response
  const text = await startOf(response)
  if (ok) return { outcome: 'ok' }
  // Secrets are removed before the text is cut: half a secret is a secret too.
  const said = secrets.reduce((words, secret) => words.replaceAll(secret, '(secret)'), text)
  const reason = `HTTP ${status} ${said.split('\n', 1)[0] ?? ''}`.trim().slice(0, REASON_CHARACTERS_MAX)
  if (status < 500 && !NOT_NOW.has(status)) return { outcome: 'reject', reason }
  const afterMs = retryAfterMs(headers.get('retry-after'), Date.now())
  return afterMs === undefined ? { outcome: 'retry', reason } : { outcome: 'retry', reason, afterMs }
}

/**
 * Reads seconds or a date (RFC 9110) as milliseconds from now; `undefined` if the text is neither, or the date is past.
 */
export function retryAfterMs(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined
  const afterMs = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - nowMs
  return afterMs > 0 ? afterMs : undefined
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
