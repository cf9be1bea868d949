import * as v from 'valibot'
import { checkOptions } from '../../config/check-options.ts'
import { boundedText, integer, setting } from '../../config/kit.ts'
import type { PushSinkOptions } from '../../delivery/push-sink-options.ts'
import { type TextSinkOptions, textEntries } from '../text-options.ts'

/** Options of {@link createFile}. */
export interface FileOptions extends TextSinkOptions, PushSinkOptions {
  /** Path of the file. Its folder is made. */
  readonly path: string
  /**
   * Size at which the file is renamed to `path.1`, and a new one is begun. Unit: bytes. Range: 64 KiB to 1 TiB.
   * Default: 256 MiB.
   */
  readonly limitBytes?: number
  /** Files at most: `path`, `path.1` and so on; the oldest is removed. Range: 1 to 1000. Default: 4. */
  readonly filesMax?: number
}

const ownEntries = {
  path: v.pipe(boundedText(1, 4096), v.description('Path of the file; its folder is made')),
  limitBytes: setting(
    integer(64 << 10, 2 ** 40, 'bytes'),
    256 << 20,
    'Size at which the file is renamed to `PATH.1`, and a new one is begun',
  ),
  filesMax: setting(
    integer(1, 1000, 'files'),
    4,
    'Files at most: the file itself, `PATH.1` and so on; the oldest is removed',
  ),
}

/** Keys of this destination in a configuration. */
export const fileEntries = { ...ownEntries, ...textEntries }

/**
 * The file with its limits.
 *
 * @throws SondeError `OUT_OPTION` if an option is not allowed.
 */
export function fileTarget(given: FileOptions): Required<Pick<FileOptions, keyof typeof ownEntries>> {
  return checkOptions(ownEntries, given, 'OUT_OPTION', ' of file')
}
