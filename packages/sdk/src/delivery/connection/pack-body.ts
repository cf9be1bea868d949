import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import type { Compression } from './config.ts'
import { OptionFault } from './option-fault.ts'

const gzip = promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.gzip)

/** Packs a body, in a thread of Node. Level 1: higher levels take far more time for little. */
export async function packBody(body: string | Uint8Array, compression: Compression): Promise<Uint8Array> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  if (compression === 'none') return bytes
  if (compression === 'gzip') return gzip(bytes, { level: 1 })
  return new Promise((resolve, reject) =>
    zlib.zstdCompress(bytes, (error, packed) => (error === null ? resolve(packed) : reject(error))),
  )
}

/** @throws OptionFault if this Node does not have the compression. */
export function checkCompression(compression: Compression = 'none'): void {
  if (compression !== 'zstd' || 'zstdCompress' in zlib) return
  throw new OptionFault(
    'compression',
    `is "zstd", which Node ${process.versions.node} does not have`,
    'gzip, none; zstd from Node 22.15 on',
  )
}
