import { closeSync, constants, fstatSync, openSync, type Stats } from 'node:fs'
import { open } from 'node:fs/promises'
import { messageOf, SondeError } from '../errors.ts'
import { readBytes, readBytesNow } from './read-bytes.ts'
import { dataFault } from './trusted-files.ts'

/** A text file to read: its path, its limit, and the codes of its faults. */
export interface TextFile {
  readonly path: string
  /**
   * Refuses a link. Default: links are followed, for Kubernetes mounts a ConfigMap, a secret and the token of a service
   * account as links.
   */
  readonly isLinkRefused?: boolean
  /** Takes a file of any user, also as root. Default: see {@link dataFault}. */
  readonly isOfAnybody?: boolean
  /** Size of the file at most. Unit: bytes. */
  readonly limitBytes: number
  /**
   * Makes the error: `limit` if the file is too large, `read` for everything else. `why` goes on behind the name of
   * the file: `is no UTF-8 text`.
   */
  readonly fault: (kind: 'read' | 'limit', why: string, cause?: unknown) => SondeError
}

/**
 * The text of a regular file.
 *
 * @throws SondeError that `fault` makes where it cannot be opened or read, is no regular file, is too large or no
 * UTF-8.
 */
export async function readTextFile(file: TextFile): Promise<string> {
  try {
    const handle = await open(file.path, flagsFor(file))
    try {
      checkStats(file, await handle.stat())
      return decodedText(file, await readBytes(handle, file.limitBytes))
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
    const opened = openSync(file.path, flagsFor(file))
    try {
      checkStats(file, fstatSync(opened))
      return decodedText(file, readBytesNow(opened, file.limitBytes))
    } finally {
      closeSync(opened)
    }
  } catch (cause) {
    throw faultOf(file, cause)
  }
}

/** Flags that open a pipe without waiting for its other end. */
function flagsFor({ isLinkRefused = false }: TextFile): number {
  return constants.O_RDONLY | constants.O_NONBLOCK | (isLinkRefused ? constants.O_NOFOLLOW : 0)
}

function checkStats({ fault, isOfAnybody = false }: TextFile, stats: Stats): void {
  if (!stats.isFile()) throw fault('read', 'is no regular file')
  const why = isOfAnybody ? '' : dataFault(stats)
  if (why !== '') throw fault('read', why)
}

function decodedText({ fault, limitBytes }: TextFile, bytes: Uint8Array | undefined): string {
  if (bytes === undefined) throw fault('limit', `is larger than ${limitBytes} bytes`)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw fault('read', 'is no UTF-8 text', cause)
  }
}

function faultOf({ fault }: TextFile, cause: unknown): SondeError {
  return cause instanceof SondeError ? cause : fault('read', `cannot be read: ${messageOf(cause)}`, cause)
}
