import { DocaFailure } from './failure.ts'

/** Much more than any known structure has. Unit: bytes. */
const MEMORY_BYTES = 65_536
/** Two patterns without a common bit: memory that keeps both was not written. */
const PATTERNS = [0xa5, 0x5a] as const

/**
 * Finds out how many bytes a call writes. It makes the call twice, into memory with two patterns.
 *
 * @returns The bytes up to the last written byte.
 */
export async function writtenBytes(
  call: (memory: Uint8Array) => Promise<DocaFailure | undefined>,
): Promise<number | DocaFailure> {
  let length = 0
  for (const pattern of PATTERNS) {
    const memory = new Uint8Array(MEMORY_BYTES).fill(pattern)
    const failure = await call(memory)
    if (failure instanceof DocaFailure) return failure
    length = Math.max(length, memory.findLastIndex((byte) => byte !== pattern) + 1)
  }
  return length
}
