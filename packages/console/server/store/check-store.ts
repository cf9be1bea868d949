import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { messageOf } from '@sonde/sdk'
import { checkDatabase, FORMAT_VERSION, hasOurTables, numberOf } from './worker/database.ts'
import { DatabaseSync } from './worker/sqlite.ts'

/** What was found of a store, without changing anything. */
export interface StoreFinding {
  /** `present`: sound. `absent`: it is made at the first start. `damaged`, or of another format: the next start sets it aside. */
  readonly state: 'present' | 'absent' | 'denied' | 'damaged'
  /** What was found or why not, with the path. */
  readonly found: string
}

/** Looks whether history can be kept at a path, and whether the file that is there is sound. A store in use may be looked at. */
export function checkStore(path: string): StoreFinding {
  const refused = refusalOf(path)
  if (refused !== undefined) return { state: 'denied', found: refused }
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
      return { state: 'denied', found: `${path} is a database of another program; give store.dir another folder` }
    const format = numberOf(database, 'PRAGMA user_version')
    if (format > 0 && format !== FORMAT_VERSION) {
      const found = `${path} has format ${format}, and this Sonde keeps format ${FORMAT_VERSION}; the next start sets it aside`
      return { state: 'damaged', found }
    }
    checkDatabase(database, size)
    return { state: 'present', found: `${path}, ${(size / 2 ** 20).toFixed(1)} MiB` }
  } finally {
    database.close()
  }
}

/** Why the file, or the nearest folder that there is, cannot be written. */
function refusalOf(path: string): string | undefined {
  try {
    accessSync(path, constants.W_OK)
    return undefined
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    return isMissing ? refusalOf(dirname(path)) : `${messageOf(error)}; give store.dir another folder`
  }
}
