import { dirname } from 'node:path'
import { SondeError } from '@sonde/sdk'
import { messageOf } from '@sonde/sdk/internal'
import { keptSentence, type StoreSettings } from '../config.ts'

/** The consequence of a failed database call for the store. */
export type SqliteFailure = 'damaged' | 'locked' | 'full' | 'forbidden' | 'crowded' | 'unwritable'

/**
 * Primary result codes of SQLite. Any other code means that the file cannot be used, for the reason in the message.
 */
const OF_SQLITE: Readonly<Record<number, SqliteFailure>> = {
  5: 'locked',
  8: 'forbidden',
  11: 'damaged',
  13: 'full',
  26: 'damaged',
}

/** A folder that cannot be created or written fails before SQLite is called. */
const OF_FILE_SYSTEM: Readonly<Record<string, SqliteFailure>> = {
  ENOSPC: 'full',
  EDQUOT: 'full',
  EACCES: 'forbidden',
  EPERM: 'forbidden',
  EROFS: 'forbidden',
  EEXIST: 'unwritable',
  EIO: 'unwritable',
  EMFILE: 'crowded',
  ENFILE: 'crowded',
  ELOOP: 'unwritable',
  ENOENT: 'unwritable',
  ENOTDIR: 'unwritable',
}

/**
 * The kind of a failure of SQLite or of the file system; undefined for other errors, which are faults of Sonde.
 */
export function sqliteFailureOf(error: unknown): SqliteFailure | undefined {
  if (!(error instanceof Error)) return undefined
  const { code = '', errcode = 0 } = error as Error & { code?: string; errcode?: number }
  if (code !== 'ERR_SQLITE_ERROR') return OF_FILE_SYSTEM[code]
  // The low byte is the primary code; the rest adds details.
  return OF_SQLITE[errcode & 0xff] ?? 'unwritable'
}

/** The reason why nothing is written, as a sentence with a fix for the user. */
export function failureSentence(error: unknown, settings: StoreSettings): string {
  // The messages of our own errors are such sentences already.
  if (error instanceof SondeError) return error.message
  const { path } = settings
  const kept = keptSentence(settings)
  const cause = messageOf(error)
  switch (sqliteFailureOf(error)) {
    case 'full':
      return `the disk of ${path} is full; free some space: ${kept}`
    case 'forbidden':
      return `${path} cannot be written (${cause}); look whether its file system is read-only, let this user write ${dirname(path)}, or give store.dir, or --data-dir, another folder: ${kept}`
    case 'damaged':
      return `${path} is damaged (${cause}); it is set aside, and its readable part is copied`
    case 'locked':
      return `another program holds ${path} (${cause}); end that one: ${kept}`
    case 'crowded':
      return `${path} cannot be opened (${cause}); let Sonde have more files open (ulimit -n, LimitNOFILE): ${kept}`
    case 'unwritable':
      return `${path} cannot be opened or written (${cause}); look at the disk and at the folder: ${kept}`
    case undefined:
      return `${path} could not be written by a fault of Sonde (${cause}); the file is opened again, please report this`
  }
}
