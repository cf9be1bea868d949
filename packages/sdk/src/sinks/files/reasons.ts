import { codeOf } from '../../disk/error-code.ts'

/** Reasons for drops; `README.md` explains each. */
export type FilesDropReason = 'closed' | 'wrong_size' | 'too_large' | 'queue_full' | 'disk_full' | 'denied' | 'failed'

const REASONS: Readonly<Record<string, FilesDropReason>> = {
  ENOSPC: 'disk_full',
  EDQUOT: 'disk_full',
  EFBIG: 'disk_full',
  FIL_SHORT: 'disk_full',
  EACCES: 'denied',
  EPERM: 'denied',
  EROFS: 'denied',
}

/** The reason under which records are dropped that could not be written for an error. */
export function filesDropReason(error: unknown): FilesDropReason {
  const code = codeOf(error)
  return (Object.hasOwn(REASONS, code) ? REASONS[code] : undefined) ?? 'failed'
}
