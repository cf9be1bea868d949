import { rmSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { isHeldByUs, makePrivateFile } from './private-files.ts'
import { loadSqlite } from './sqlite.ts'

/** A lock that this process holds. */
export interface FileLock {
  close(): void
}

const BUSY = 5
/** Codes of a file that is no database. */
const DAMAGED = new Set([11, 26])

/**
 * Takes a lock that the kernel releases when the process ends, for any reason: an exclusive transaction on an empty
 * database. Every user who can open a file can lock it. So a file that is open to other users is replaced, unless a
 * process of this user or of root has the lock. Undefined if another process has the lock.
 *
 * @throws the error of SQLite or the file system if the file cannot be made.
 */
export function lockFile(path: string): FileLock | undefined {
  if (isHeldByUs(path)) return undefined
  makePrivateFile(path)
  const { DatabaseSync } = loadSqlite()
  const lock: DatabaseSync = new DatabaseSync(path)
  try {
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    // The low byte is the primary code.
    const code = ((error as { errcode?: number }).errcode ?? 0) % 256
    if (code === BUSY) return undefined
    if (!DAMAGED.has(code)) throw error
    // A process that held it would have kept it from being read: nobody does, and nothing is kept in it.
    rmSync(path)
    return lockFile(path)
  }
}
