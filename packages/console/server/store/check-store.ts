import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { checkFoldersNow, lockFile, messageOf } from '@sonde/sdk/internal'
import { settingsOf } from './config.ts'
import { checkDatabase, FORMAT_VERSION, hasOurTables, numberOf } from './worker/database.ts'
import { Head } from './worker/head.ts'
import { headFolderOf } from './worker/head-files.ts'
import { DatabaseSync } from './worker/sqlite.ts'

/** What was found of a store, without changing anything. */
export interface StoreFinding {
  /**
   * `present`: sound. `absent`: it is made at the first start. `taken`: another process has it. `damaged`, or of
   * another format: the next start sets it aside.
   */
  readonly state: 'present' | 'absent' | 'denied' | 'taken' | 'damaged'
  /** What was found or why not, with the path. */
  readonly found: string
}

/**
 * Looks whether history can be kept at a path, whether another process has it, and whether the file that is there is
 * sound.
 */
export function checkStore(path: string): StoreFinding {
  const refused = refusalOf(path)
  if (refused !== undefined) return { state: 'denied', found: refused }
  if (isTaken(path))
    return {
      state: 'taken',
      found: `${path} is open in another process; stop that one, or give store.dir, or --data-dir, another folder`,
    }
  if (!existsSync(path)) return { state: 'absent', found: `${path} is made at the first start` }
  try {
    return look(path)
  } catch (error) {
    return {
      state: 'damaged',
      found: `${path}: ${messageOf(error)}; the next start sets it aside and carries over what can be read`,
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
    const format = numberOf(database, 'PRAGMA user_version')
    if (format > 0 && format !== FORMAT_VERSION) {
      const found = `${path} has format ${format}, and this Sonde keeps format ${FORMAT_VERSION}; the next start sets it aside`
      return { state: 'damaged', found }
    }
    checkDatabase(database, size)
    const head = new Head(database, settingsOf({ path }))
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

/** Why the folder cannot be written or made, or the file not be written. */
function refusalOf(path: string): string | undefined {
  try {
    checkFoldersNow(dirname(path))
    if (existsSync(path)) accessSync(path, constants.W_OK)
    return undefined
  } catch (error) {
    return `${path} cannot be written: ${messageOf(error)}; give store.dir, or --data-dir, another folder`
  }
}

/** Whether a process has the lock beside the file. Who asks for a lock makes it where it is missing. */
function isTaken(path: string): boolean {
  const lock = `${path}.lock`
  if (!existsSync(lock)) return false
  try {
    const own = lockFile(lock)
    own?.close()
    return own === undefined
  } catch {
    // A lock that is damaged is held by nobody; the next start makes another.
    return false
  }
}
