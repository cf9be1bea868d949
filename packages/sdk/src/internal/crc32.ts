import { createRequire } from 'node:module'
import * as zlib from 'node:zlib'

/** CRC-32 of zlib, gzip and PNG; `value` is that of the bytes before. */
type Crc32 = (bytes: Uint8Array, value?: number) => number

/**
 * Node's own takes as long for a page as the page's write into the page cache, since it was built without the
 * instructions for it (nodejs/node#49511). `@node-rs/crc32` uses them. It is native code, which
 * the SDK does not bring: an application that has it installed gets the speed.
 */
export const crc32: Crc32 = loadAddon() ?? zlib.crc32

function loadAddon(): Crc32 | undefined {
  try {
    return (createRequire(import.meta.url)('@node-rs/crc32') as { crc32: Crc32 }).crc32
  } catch {
    // Not installed, or has no binary for this machine.
    return undefined
  }
}
