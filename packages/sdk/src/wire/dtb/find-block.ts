import { SondeError } from '../../errors.ts'
import type { DtbInput } from './decode.ts'
import { decodeBlockHeader } from './decode-header.ts'
import { BLOCK_HEADER_BYTES, BLOCK_MAGIC } from './format.ts'

const WINDOW_BYTES = 1 << 20
const MAGIC = Buffer.from(Uint32Array.of(BLOCK_MAGIC).buffer)

/**
 * The first offset from `from` to `to`, a multiple of 8, with a valid block header; the end of the file if there is
 * none. Unit: bytes.
 *
 * @param to The last offset to check. Default: the end of the file.
 */
export function findBlock(input: DtbInput, from: number, to = input.bytes): number {
  for (let start = from + ((8 - (from % 8)) % 8); start <= to; ) {
    const window = input.read(start, Math.min(WINDOW_BYTES, to - start + BLOCK_HEADER_BYTES))
    const last = window.length - BLOCK_HEADER_BYTES
    if (last < 0) break
    const found = findWithin(window, last)
    if (found !== undefined) return start + found
    // The rest of the window is shorter than a header, and is read again with the next window.
    start += (last & ~7) + 8
  }
  return input.bytes
}

function findWithin(bytes: Uint8Array, last: number): number | undefined {
  const window = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = window.indexOf(MAGIC); at >= 0 && at <= last; at = window.indexOf(MAGIC, at + 1)) {
    if (at % 8 === 0 && holds(window.subarray(at, at + BLOCK_HEADER_BYTES))) return at
  }
  return undefined
}

function holds(header: Uint8Array): boolean {
  try {
    decodeBlockHeader(header)
    return true
  } catch (error) {
    if (!(error instanceof SondeError)) throw error
    return false
  }
}
