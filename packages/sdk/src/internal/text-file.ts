import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { open } from 'node:fs/promises'
import { messageOf, SondeError } from '../errors.ts'

/** Which file, how much of it, and what its faults are called. */
export interface TextFile {
  /** What to open, with all links followed: another one is refused. */
  readonly path: string
  /** Size of the file at most. Unit: bytes. */
  readonly limitBytes: number
  /**
   * Makes the error: `limit` where the file is too large, `read` for everything else. `why` goes on behind the name of
   * the file: `is no UTF-8 text`.
   */
  readonly fault: (kind: 'read' | 'limit', why: string, cause?: unknown) => SondeError
}

/** Without waiting for the other end of what may be a pipe. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW

/**
 * The text of a regular file.
 *
 * @throws SondeError that `fault` makes where it cannot be opened or read, is no regular file, is too large or no
 * UTF-8.
 */
export async function readTextFile(file: TextFile): Promise<string> {
  try {
    const handle = await open(file.path, FLAGS)
    try {
      checkStats(file, await handle.stat())
      return decoded(file, await handle.readFile())
    } finally {
      await handle.close()
    }
  } catch (cause) {
    throw faultOf(file, cause)
  }
}

/** As {@link readTextFile}, for a start that cannot wait. */
export function readTextFileNow(file: TextFile): string {
  try {
    const opened = openSync(file.path, FLAGS)
    try {
      checkStats(file, fstatSync(opened))
      return decoded(file, readFileSync(opened))
    } finally {
      closeSync(opened)
    }
  } catch (cause) {
    throw faultOf(file, cause)
  }
}

function checkStats({ fault, limitBytes }: TextFile, stats: Stats): void {
  if (!stats.isFile()) throw fault('read', 'is no regular file')
  if (stats.size > limitBytes) throw fault('limit', `is larger than ${limitBytes} bytes`)
}

function decoded({ fault }: TextFile, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw fault('read', 'is no UTF-8 text', cause)
  }
}

function faultOf({ fault }: TextFile, cause: unknown): SondeError {
  return cause instanceof SondeError ? cause : fault('read', `cannot be read: ${messageOf(cause)}`, cause)
}
