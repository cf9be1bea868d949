import { closeSync, constants, fstatSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { makeFoldersNow, PRIVATE_FILE_MODE } from '@sonde/sdk/internal'

/** Length of the key. Unit: bytes. */
export const KEY_BYTES = 32
const NAME = 'service.key'
/** Any right of group or others. */
const FOREIGN = 0o077
const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants

/**
 * The key of a service, which the next service of this user reads so that it knows the same clients. A file that
 * another user made, or could read, is replaced.
 *
 * @param fresh The key where there is none yet.
 * @throws what the file system says where it cannot be written.
 */
export function keyIn(directory: string, fresh: Buffer): Buffer {
  const path = join(directory, NAME)
  const known = read(path)
  if (known !== undefined) return known
  makeFoldersNow(directory)
  rmSync(path, { force: true })
  const file = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, PRIVATE_FILE_MODE)
  try {
    writeSync(file, fresh)
  } finally {
    closeSync(file)
  }
  return fresh
}

function read(path: string): Buffer | undefined {
  let file: number
  try {
    file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch {
    // The file is missing, or belongs to another user.
    return undefined
  }
  try {
    const stats = fstatSync(file)
    const isOurs = stats.uid === process.geteuid?.() && (stats.mode & FOREIGN) === 0 && stats.nlink === 1
    if (!stats.isFile() || !isOurs || stats.size !== KEY_BYTES) return undefined
    const key = Buffer.alloc(KEY_BYTES)
    return readSync(file, key, 0, KEY_BYTES, 0) === KEY_BYTES ? key : undefined
  } finally {
    closeSync(file)
  }
}
