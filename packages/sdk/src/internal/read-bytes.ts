import { readSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'

/** Files of the kernel are read in whole words: `/proc/self/pagemap` refuses a read of an odd number of bytes. */
const PAGE_BYTES = 4096

/**
 * All bytes of a file that is open, from its beginning; undefined if there are more than `limitBytes`. At most 4096
 * bytes beyond the limit are read, whatever size the file says: files of the kernel such as `/proc/self/pagemap` say 0,
 * and hardly end.
 */
export async function readBytes(file: FileHandle, limitBytes: number): Promise<Buffer | undefined> {
  const bytes = bufferFor(limitBytes)
  let length = 0
  for (let read = 1; read > 0 && length <= limitBytes; length += read)
    read = (await file.read(bytes, length, bytes.length - length)).bytesRead
  return length > limitBytes ? undefined : bytes.subarray(0, length)
}

/** As {@link readBytes}, for a caller that cannot wait. */
export function readBytesNow(file: number, limitBytes: number): Buffer | undefined {
  const bytes = bufferFor(limitBytes)
  let length = 0
  for (let read = 1; read > 0 && length <= limitBytes; length += read)
    read = readSync(file, bytes, length, bytes.length - length, null)
  return length > limitBytes ? undefined : bytes.subarray(0, length)
}

function bufferFor(limitBytes: number): Buffer {
  return Buffer.allocUnsafe(Math.ceil((limitBytes + 1) / PAGE_BYTES) * PAGE_BYTES)
}
