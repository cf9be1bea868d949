/** What a failed database call means for the store. */
export type SqliteFailure = 'damaged' | 'locked' | 'unwritable'

const BUSY = 5
const CORRUPT = 11
const NOT_A_DATABASE = 26

/** What kind of failure of SQLite an error is; undefined where it is none: then it is an error of ours. */
export function sqliteFailureOf(error: unknown): SqliteFailure | undefined {
  if (!(error instanceof Error)) return undefined
  const { code, errcode } = error as Error & { code?: string; errcode?: number }
  // A folder that cannot be made or written fails before SQLite is asked.
  if (['EACCES', 'EROFS', 'EPERM', 'ENOSPC', 'ENOTDIR', 'EEXIST', 'EIO', 'EDQUOT', 'ELOOP'].includes(code ?? ''))
    return 'unwritable'
  if (code !== 'ERR_SQLITE_ERROR') return undefined
  // The low byte is the primary code; the rest says where.
  const primary = (errcode ?? 0) & 0xff
  if (primary === CORRUPT || primary === NOT_A_DATABASE) return 'damaged'
  return primary === BUSY ? 'locked' : 'unwritable'
}
