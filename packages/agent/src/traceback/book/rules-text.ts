import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { SondeError } from '@sonde/sdk'
import { messageOf, readTextFile } from '@sonde/sdk/internal'
import { RULE_LIMITS } from '../../rules/read/limits.ts'

/**
 * Reads the text of a file of rules.
 * @param isKnown Receives the state of the file, a text that changes with the file. If it returns true, the file is not
 * read. Default: the file is read.
 * @returns Undefined if it was not read.
 * @throws SondeError `TRB_RULES` if it cannot be read, is not a regular file, is too large or not UTF-8; a system error
 * if the file is missing.
 */
export async function readRulesText(
  path: string,
  isKnown: (state: string) => boolean = () => false,
): Promise<string | undefined> {
  const { mtimeMs, ctimeMs, size, ino } = await stat(path)
  if (isKnown(`${mtimeMs} ${ctimeMs} ${size} ${ino}`)) return undefined
  return readTextFile({
    path,
    limitBytes: RULE_LIMITS.fileBytes,
    fault: (_kind, why, cause) => new SondeError('TRB_RULES', `${path} ${why}`, { cause }),
  })
}

/** Why a file of rules is not in use, for people. */
export function rulesFault(path: string, error: unknown): string {
  const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
  return isMissing ? `${resolve(path)} does not exist; create it, or remove traceback.rules` : messageOf(error)
}
