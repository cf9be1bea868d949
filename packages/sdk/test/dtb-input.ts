import type { DtbInput } from '../src/wire/dtb/decode.ts'

/** Bytes in memory as a decoder reads them; the same that a file would give, each time in another place of memory. */
export function dtbInput(bytes: Uint8Array): DtbInput {
  return {
    bytes: bytes.length,
    read: (at, wanted) => bytes.subarray(at, Math.min(bytes.length, at + wanted)),
  }
}
