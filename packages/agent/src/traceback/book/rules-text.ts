import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { messageOf, SondeError } from '@sonde/sdk'

/** A file of rules is larger in no case. Unit: bytes. */
const FILE_BYTES_MAX = 1 << 20

/**
 * Reads the text of a file of rules.
 *
 * @param isKnown Told what the file is like, in a text that changes whenever the file does; where it answers true, the
 * file is not read. Default: it is read.
 * @returns Undefined where it was not read.
 * @throws SondeError `TRB_RULES` where it is no file or too large, or what the system says.
 */
export async function readRulesText(
  path: string,
  isKnown: (state: string) => boolean = () => false,
): Promise<string | undefined> {
  // A pipe without a writer would hold whoever opens it, and with it the end of the process.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stat = await handle.stat()
    const { mtimeMs, ctimeMs, size, ino } = stat
    if (isKnown(`${mtimeMs} ${ctimeMs} ${size} ${ino}`)) return undefined
    if (!stat.isFile()) throw new SondeError('TRB_RULES', `${path} is not a file`)
    if (size > FILE_BYTES_MAX)
      throw new SondeError('TRB_RULES', `${path} has ${size} bytes; allowed: ${FILE_BYTES_MAX}`)
    const bytes = new Uint8Array(FILE_BYTES_MAX)
    const { bytesRead } = await handle.read(bytes, 0, FILE_BYTES_MAX, 0)
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, bytesRead))
  } finally {
    await handle.close()
  }
}

/** Why a file of rules is not in use, for people. */
export function rulesFaultOf(path: string, error: unknown): string {
  const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
  return isMissing ? `${resolve(path)} is not there; make it, or take traceback.rules out` : messageOf(error)
}
