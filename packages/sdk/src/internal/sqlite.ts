import type { DatabaseSync } from 'node:sqlite'

type Sqlite = typeof import('node:sqlite')

let loaded: Sqlite | undefined

/**
 * `node:sqlite`, which Node 22 calls experimental in a line on stderr each time that a thread loads it. Sonde relies on
 * nothing of it that has changed since; the line would only make people ask. No other warning is held back: nothing but
 * the load happens meanwhile.
 */
export function loadSqlite(): Sqlite {
  if (loaded !== undefined) return loaded
  const { emitWarning } = process
  process.emitWarning = () => undefined
  try {
    loaded = process.getBuiltinModule('node:sqlite')
    return loaded
  } finally {
    process.emitWarning = emitWarning
  }
}

/** A lock that this process holds. */
export interface FileLock {
  close(): void
}

const BUSY = 5

/**
 * Takes a lock that the kernel drops with the process, however that ends: an exclusive transaction on an empty
 * database. Undefined where another process has it.
 *
 * @throws what SQLite or the file system says where the file cannot be made.
 */
export function lockFile(path: string): FileLock | undefined {
  const { DatabaseSync } = loadSqlite()
  const lock: DatabaseSync = new DatabaseSync(path)
  try {
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    // The low byte is the primary code.
    if (((error as { errcode?: number }).errcode ?? 0) % 256 === BUSY) return undefined
    throw error
  }
}
