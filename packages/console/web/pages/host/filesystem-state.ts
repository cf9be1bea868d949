import type { StateTone } from '../../components/state-mark.tsx'
import { type FilesystemRow, fullness, scarce } from './host-rows.ts'

/** A file system is nearly full above the first share, and as good as full above the second. */
const FULL_SHARES = { warning: 0.9, critical: 0.98 } as const
/** A medium that nobody writes to, such as an image, is read-only and full by nature. */
const IMAGES = new Set(['iso9660', 'squashfs', 'erofs', 'udf', 'romfs', 'cramfs'])

/** Whether a file system is such a medium. */
export function isImage({ fstype }: Pick<FilesystemRow, 'fstype'>): boolean {
  return IMAGES.has(fstype)
}

/** The state of a file system, with the word for it. */
export function filesystemState(row: FilesystemRow): { readonly tone: StateTone; readonly word: string } {
  if (isImage(row)) return { tone: 'ok', word: 'Image' }
  if (row.isReadOnly) return { tone: 'ok', word: 'Read-only' }
  const full = fullness(row)
  const word = scarce(row)
  if (full >= FULL_SHARES.critical) return { tone: 'critical', word: `No ${word} left` }
  return full >= FULL_SHARES.warning
    ? { tone: 'warning', word: `Little ${word} left` }
    : { tone: 'ok', word: 'Has room' }
}
