import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { checkFoldersNow, lockFile, messageOf } from '@sonde/sdk/internal'
import { storeSettings } from './config.ts'
import { checkDatabase, FORMAT_VERSION, hasOurTables, queryNumber } from './worker/database.ts'
import { Head } from './worker/head.ts'
import { headFolderOf } from './worker/head-files.ts'
import { DatabaseSync } from './worker/sqlite.ts'

/** The result of a check of a store, which changes nothing. */
export interface StoreFinding {
  /**
   * `present`: sound. `absent`: the first start creates it. `taken`: another process has it open. `damaged`, or of
   * another format: the next start sets it aside.
   */
  readonly state: 'present' | 'absent' | 'denied' | 'taken' | 'damaged'
  /** The details or the reason, with the path. */
  readonly found: string
}

/**
 * Checks whether history can be kept at a path, whether another process has it open, and whether the existing file is
 * sound.
 */
export function checkStore(path: string): StoreFinding {
  const refused = refusalOf(path)
  if (refused !== undefined) return { state: 'denied', found: refused }
  if (isTaken(path))
    return {
      state: 'taken',
      found: `${path} is open in another process; stop that process, or give store.dir, or --data-dir, another folder`,
    }
  if (!existsSync(path)) return { state: 'absent', found: `${path} is made at the first start` }
  try {
    return look(path)
  } catch (error) {
    return {
      state: 'damaged',
      found: `${path}: ${messageOf(error)}; the next start sets it aside, and carries over its readable part`,
    }
  }
}

function look(path: string): StoreFinding {
  const { size } = statSync(path)
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    if (!hasOurTables(database))
      return {
        state: 'denied',
        found: `${path} is a database of another program; give store.dir, or --data-dir, another folder`,
      }
    const format = queryNumber(database, 'PRAGMA user_version')
    if (format > 0 && format !== FORMAT_VERSION) {
      const found = `${path} has format ${format}, and this Sonde keeps format ${FORMAT_VERSION}; the next start sets it aside`
      return { state: 'damaged', found }
    }
    checkDatabase(database, size)
    const head = new Head(database, storeSettings({ path }))
    const missing = head.missingRecords()
    if (missing > 0) {
      const found = `${path}: the bytes of ${missing} records are not in ${headFolderOf(path)}; the next start goes on without them`
      return { state: 'damaged', found }
    }
    return { state: 'present', found: `${path}, ${((size + head.bytes) / 2 ** 20).toFixed(1)} MiB` }
  } finally {
    database.close()
  }
}

/** The reason why the folder or the file cannot be written or created. */
function refusalOf(path: string): string | undefined {
  try {
    checkFoldersNow(dirname(path))
    if (existsSync(path)) accessSync(path, constants.W_OK)
    return undefined
  } catch (error) {
    return `${path} cannot be written: ${messageOf(error)}; give store.dir, or --data-dir, another folder`
  }
}

/** Whether a process holds the lock beside the file. Requesting a lock creates it if it is missing. */
function isTaken(path: string): boolean {
  const lock = `${path}.lock`
  if (!existsSync(lock)) return false
  try {
    const own = lockFile(lock)
    own?.close()
    return own === undefined
  } catch {
    // No process can hold a damaged lock; the next start creates a new one.
    return false
  }
}
