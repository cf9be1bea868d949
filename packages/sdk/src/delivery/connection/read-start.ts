import type { IncomingMessage } from 'node:http'

/** How long the rest of an answer may take that nobody reads. Unit: milliseconds. */
const DISCARD_LIMIT_MS = 100

/** The beginning of an answer. */
export interface AnswerStart {
  readonly body: Buffer
  /** Whether the answer ends there. */
  readonly isWhole: boolean
}

/**
 * Reads an answer up to a number of bytes. A longer answer is cut off, with its connection: reading an endless answer
 * to its end would never end.
 *
 * @throws Error if the connection breaks before.
 */
export async function readStart(response: IncomingMessage, bytesMax: number): Promise<AnswerStart> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of response as AsyncIterable<Buffer>) {
    pieces.push(piece)
    bytes += piece.byteLength
    // Leaving the loop destroys the response.
    if (bytes > bytesMax) return { body: Buffer.concat(pieces).subarray(0, bytesMax), isWhole: false }
  }
  return { body: Buffer.concat(pieces), isWhole: true }
}

/** Reads an answer that nobody needs, so that its connection can be used again. A long or slow answer is cut off. */
export async function discard(response: IncomingMessage, bytesMax: number): Promise<void> {
  const timer = setTimeout(() => response.destroy(), DISCARD_LIMIT_MS)
  try {
    await readStart(response, bytesMax)
  } catch {
    // The request has arrived; only its connection is lost.
  } finally {
    clearTimeout(timer)
  }
}
