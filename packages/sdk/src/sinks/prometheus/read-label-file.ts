import { realpathSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { messageOf, SondeError } from '../../errors.ts'
import { FollowedFile } from '../../internal/followed-file.ts'
import { readTextFile, readTextFileNow, type TextFile } from '../../internal/text-file.ts'
import { LABEL_FILE_BYTES_LIMIT, type LabelFile, parseLabelFile } from './label-file.ts'

/**
 * Reads a label file.
 *
 * @throws SondeError `PRM_LABELS` where it cannot be read, is too large or no UTF-8, or with file and line of what is
 * wrong in it.
 */
export function readLabelFile(path: string): LabelFile {
  return parseLabelFile(textNow(path), path)
}

/**
 * Reads a label file, and reads it again where it changed when somebody looks. One that goes away is a fault, as it was
 * asked for by name.
 *
 * @throws SondeError as {@link readLabelFile}; later faults are told.
 */
export function followLabelFile(path: string, onFault: (fault: SondeError) => void): FollowedFile<LabelFile> {
  const parse = (text: string) => parseLabelFile(text, path)
  const text = textNow(path)
  const before = { text, value: parse(text) }
  return new FollowedFile({ path, read: () => textOf(path), parse, onFault, isNeeded: true, before })
}

async function textOf(path: string): Promise<string> {
  const target = await realpath(path).catch((cause: unknown) => {
    throw labelFault(path, `cannot be read: ${messageOf(cause)}`, cause)
  })
  return readTextFile(labelFileOf(path, target))
}

/** Before anything is served, and so that a fault is thrown to who makes the view. */
function textNow(path: string): string {
  try {
    return readTextFileNow(labelFileOf(path, realpathSync(path)))
  } catch (cause) {
    throw cause instanceof SondeError ? cause : labelFault(path, `cannot be read: ${messageOf(cause)}`, cause)
  }
}

function labelFileOf(path: string, target: string): TextFile {
  return {
    path: target,
    limitBytes: LABEL_FILE_BYTES_LIMIT,
    fault: (_kind, why, cause) => labelFault(path, why, cause),
  }
}

function labelFault(path: string, why: string, cause?: unknown): SondeError {
  return new SondeError('PRM_LABELS', `the label file ${path} ${why}`, { cause })
}
