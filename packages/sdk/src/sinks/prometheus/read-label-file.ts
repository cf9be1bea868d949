import { SondeError } from '../../errors.ts'
import { FollowedFile } from '../../internal/followed-file.ts'
import { readTextFile, readTextFileNow, type TextFile } from '../../internal/text-file.ts'
import { LABEL_FILE_BYTES_LIMIT, type LabelFile, parseLabelFile } from './label-file.ts'

/**
 * Reads a label file.
 *
 * @throws SondeError `PRM_LABELS` if it cannot be read, is too large or no UTF-8, or with file and line of what is
 * wrong in it.
 */
export function readLabelFile(path: string): LabelFile {
  return parseLabelFile(readTextFileNow(labelFileAt(path)), path)
}

/**
 * Reads a label file, and reads it again at a check if it has changed. A removed file is a fault.
 *
 * @throws SondeError the errors of {@link readLabelFile}; later faults are reported.
 */
export function followLabelFile(path: string, onFault: (fault: SondeError) => void): FollowedFile<LabelFile> {
  const parse = (text: string) => parseLabelFile(text, path)
  const file = labelFileAt(path)
  const text = readTextFileNow(file)
  const before = { text, value: parse(text) }
  return new FollowedFile({ path, read: () => readTextFile(file), parse, onFault, isNeeded: true, before })
}

function labelFileAt(path: string): TextFile {
  return {
    path,
    limitBytes: LABEL_FILE_BYTES_LIMIT,
    fault: (_kind, why, cause) => new SondeError('PRM_LABELS', `the label file ${path} ${why}`, { cause }),
  }
}
