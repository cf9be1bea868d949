import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { readBytesNow } from './read-bytes.ts'
import { dataFault } from './trusted-files.ts'

/** How long a pipe may give nothing. Unit: milliseconds. */
const PIPE_LIMIT_MS = 5000
const PIPE_LOOK_MS = 10
const PIPE_READ_BYTES = 64 << 10

/**
 * All bytes of a file, or of a pipe such as `/dev/stdin`, that a user named; undefined if there are more than
 * `limitBytes`. Does not wait for a pipe without a writer.
 *
 * @throws the error of the system, or the reason for which the file is not read.
 */
export function readGivenFile(path: string, limitBytes: number): Buffer | undefined {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = fstatSync(file)
    const fault = dataFault(stats)
    if (fault !== '') throw new Error(`it ${fault}`)
    return stats.isFIFO() ? readPipe(file, limitBytes) : readBytesNow(file, limitBytes)
  } finally {
    closeSync(file)
  }
}

function readPipe(file: number, limitBytes: number): Buffer | undefined {
  const parts: Buffer[] = []
  let length = 0
  for (let waitedMs = 0; waitedMs < PIPE_LIMIT_MS; waitedMs += PIPE_LOOK_MS) {
    for (let part = readPart(file); part !== undefined; part = readPart(file)) {
      // At its end, or before somebody opens the other end.
      if (part.length === 0 && length > 0) return Buffer.concat(parts)
      if (part.length === 0) break
      waitedMs = 0
      parts.push(part)
      length += part.length
      if (length > limitBytes) return undefined
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PIPE_LOOK_MS)
  }
  throw new Error(`it is a pipe that gave ${length === 0 ? 'nothing' : 'no end'} within ${PIPE_LIMIT_MS} ms`)
}

/** The available bytes; undefined if there are none yet. */
function readPart(file: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafe(PIPE_READ_BYTES)
  try {
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, null))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined
    throw error
  }
}
