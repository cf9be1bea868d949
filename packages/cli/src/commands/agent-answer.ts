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
  const response = await fetch(url, { signal: AbortSignal.timeout(limitMs), redirect: 'error' })
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > ANSWER_LIMIT_BYTES) throw new Error(`an answer of more than ${ANSWER_LIMIT_BYTES} bytes`)
    chunks.push(chunk)
  }
  return { status: response.status, text: Buffer.concat(chunks).toString() }
}
