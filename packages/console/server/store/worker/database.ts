import { closeSync, existsSync, openSync, readdirSync, renameSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { SondeError } from '@sonde/sdk'
import { type FileLock, lockFile, makeFoldersNow, messageOf, PRIVATE_FILE_MODE } from '@sonde/sdk/internal'
import type { StoreSettings } from '../config.ts'
import { carryHeadFiles } from './head-files.ts'
import { salvage } from './salvage.ts'
import { DatabaseSync } from './sqlite.ts'
import { sqliteFailureOf } from './sqlite-error.ts'

/** The open file. */
export interface Opened {
  readonly database: DatabaseSync
  /** A sentence about repairs at the opening; empty if there were none. */
  readonly notice: string
}

/** `Sond` in ASCII: marks the file as a store of Sonde. */
const APPLICATION_ID = 0x536f6e64
/** Raised with every change of the tables or of the contents of their rows. */
export const FORMAT_VERSION = 5
/** Rows of the head are up to 4 MiB long: with pages of 4 KiB a write takes twice the time. */
const PAGE_BYTES = 16 << 10
/** Length to which the write-ahead log is cut; at half of it its pages are moved into the file. Unit: bytes. */
export const LOG_BYTES = 64 << 20
/** Largest number of files of one kind that are set aside: a failing disk must not fill up with them. */
const ASIDE_COUNT_LIMIT = 8
/**
 * Files up to this size are checked completely at open, which takes about a second. In larger files every table except
 * that of the chunks is checked.
 */
const FULL_CHECK_BYTES = 192 << 20

/**
 * Ids that other rows refer to are never reused, so that a concurrent reader finds the right row, or none.
 */
const TABLES = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE type (id INTEGER PRIMARY KEY AUTOINCREMENT, fingerprint TEXT NOT NULL UNIQUE, definition TEXT NOT NULL);
CREATE TABLE source (id INTEGER PRIMARY KEY AUTOINCREMENT, descriptor TEXT NOT NULL UNIQUE);
CREATE TABLE writer (id INTEGER PRIMARY KEY AUTOINCREMENT, source INTEGER NOT NULL);
CREATE TABLE symbol (writer INTEGER NOT NULL, id INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (writer, id)) WITHOUT ROWID;
CREATE TABLE series (id INTEGER PRIMARY KEY AUTOINCREMENT, type_name TEXT NOT NULL, labels TEXT NOT NULL, UNIQUE (type_name, labels));
CREATE TABLE period (source INTEGER NOT NULL, type TEXT NOT NULL, device TEXT NOT NULL, from_ms REAL NOT NULL, report_ms REAL NOT NULL,
  PRIMARY KEY (source, type, device, from_ms)) WITHOUT ROWID;
CREATE TABLE head (id INTEGER PRIMARY KEY, type INTEGER NOT NULL, writer INTEGER NOT NULL, clock TEXT NOT NULL,
  hour INTEGER NOT NULL, first_ms REAL NOT NULL, last_ms REAL NOT NULL, count INTEGER NOT NULL, bytes INTEGER NOT NULL,
  crc INTEGER NOT NULL, file INTEGER NOT NULL, place INTEGER NOT NULL);
CREATE INDEX head_by_time ON head (type, hour, writer, clock, first_ms, last_ms, count, bytes);
CREATE TABLE segment (id INTEGER PRIMARY KEY, first INTEGER NOT NULL, level INTEGER NOT NULL, type INTEGER NOT NULL, source INTEGER NOT NULL,
  clock TEXT NOT NULL, slot INTEGER NOT NULL, first_ms REAL NOT NULL, last_ms REAL NOT NULL, samples INTEGER NOT NULL,
  rolled INTEGER NOT NULL, series BLOB NOT NULL, times_of BLOB NOT NULL);
CREATE INDEX segment_by_time ON segment (level, type, slot, first_ms, last_ms);
CREATE TABLE chunk (id INTEGER PRIMARY KEY, body BLOB NOT NULL);
`

/**
 * Opens or creates the file. A damaged file is set aside as `<path>.corrupt-<time>`; a new file takes its place and its
 * readable content.
 *
 * @throws SondeError `STO_FOREIGN` if it is a database of another program, which is left alone; also errors of SQLite
 * or the file system if the file cannot be written.
 */
export function openDatabase(settings: StoreSettings): Opened {
  const { path } = settings
  makeFoldersNow(dirname(path))
  refuseForeign(path)
  try {
    return openFile(settings, '')
  } catch (error) {
    if (sqliteFailureOf(error) !== 'damaged') throw error
    return replaceDatabase(settings, messageOf(error))
  }
}

/** Sets a damaged file aside, and opens a new file with its readable content. */
export function replaceDatabase(settings: StoreSettings, cause: string): Opened {
  const aside = setAside(settings.path, 'corrupt')
  const { database } = openFile(settings, '')
  const result = salvage(aside, database)
  const files = database.prepare('SELECT DISTINCT file FROM head').all()
  carryHeadFiles(
    aside,
    settings.path,
    files.map(({ file }) => Number(file)),
  )
  return { database, notice: `the store file was damaged (${cause}) and set aside as ${aside}; ${result}` }
}

/** Runs `work` in one write transaction. */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    // SQLite rolls back by itself if the disk is full. A second rollback would fail and hide the first error.
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

/**
 * Takes the lock beside the file.
 *
 * @throws SondeError `STO_LOCKED`.
 */
export function lockDatabase(path: string): FileLock {
  makeFoldersNow(dirname(path))
  const lock = lockFile(`${path}.lock`)
  if (lock !== undefined) return lock
  const message = `${path} is open in another process; stop that process, or keep history elsewhere (store.dir, --data-dir)`
  throw new SondeError('STO_LOCKED', message)
}

function openFile(settings: StoreSettings, notice: string): Opened {
  const { path, durability } = settings
  makeEmpty(path)
  const database = new DatabaseSync(path)
  try {
    // Before the first table, because a file gives pages back to the disk only if it was created with this setting.
    database.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL`)
    database.exec(
      `PRAGMA synchronous = ${durability === 'block' ? 'FULL' : 'NORMAL'}; PRAGMA journal_size_limit = ${LOG_BYTES};
       PRAGMA wal_autocheckpoint = ${LOG_BYTES / 2 / PAGE_BYTES}`,
    )
    const version = queryNumber(database, 'PRAGMA user_version')
    if (version > FORMAT_VERSION) {
      database.close()
      const aside = setAside(path, 'newer')
      return openFile(settings, `the store file has the newer format ${version} and was set aside as ${aside}`)
    }
    if (version > 0 && version < FORMAT_VERSION) {
      database.close()
      const aside = setAside(path, 'older')
      return openFile(settings, `the store file has the older format ${version} and was set aside as ${aside}`)
    }
    if (version <= 0 && hasOurTables(database)) throw damage('its format version is gone')
    if (version <= 0) createTables(database)
    checkDatabase(database, statSync(path).size)
    database.exec('PRAGMA cache_size = -16384')
    return { database, notice }
  } catch (error) {
    if (database.isOpen) database.close()
    throw error
  }
}

/** Creates a missing file, because SQLite would let every user read it. */
function makeEmpty(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, 'a', PRIVATE_FILE_MODE))
}

function createTables(write: DatabaseSync): void {
  inTransaction(write, () => {
    write.exec(TABLES)
    write.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${FORMAT_VERSION}`)
  })
}

/** Tables and indexes with their columns, as text. */
function tablesOf(database: DatabaseSync): string {
  const rows = database.prepare("SELECT sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name").all()
  return rows.map(({ sql }) => String(sql)).join('\n')
}

/** The value of {@link tablesOf} for a new file. */
function ourTables(): string {
  const made = new DatabaseSync(':memory:')
  try {
    made.exec(TABLES)
    return tablesOf(made)
  } finally {
    made.close()
  }
}

/** Throws the error that SQLite throws for a damaged file, if the file is damaged. */
export function checkDatabase(database: DatabaseSync, fileBytes: number): void {
  if (tablesOf(database) !== ourTables()) throw damage('its tables are not those of its format')
  const tables = ['meta', 'type', 'source', 'writer', 'symbol', 'series', 'head', 'segment']
  const pragmas = fileBytes <= FULL_CHECK_BYTES ? ['quick_check(1)'] : tables.map((table) => `quick_check(${table})`)
  for (const pragma of pragmas) {
    const row = database.prepare(`PRAGMA ${pragma}`).get()
    const found = String(Object.values(row ?? {})[0])
    if (found !== 'ok') throw damage(found)
  }
}

/** An error like SQLite's own for a damaged file. */
function damage(what: string): Error {
  return Object.assign(new Error(what), { code: 'ERR_SQLITE_ERROR', errcode: 11 })
}

/** A database of another program must not be moved away because of a mistyped path. */
function refuseForeign(path: string): void {
  if (!existsSync(path) || statSync(path).size === 0) return
  const database = new DatabaseSync(path)
  try {
    if (queryNumber(database, 'SELECT count(*) FROM sqlite_schema') === 0 || hasOurTables(database)) return
  } catch (error) {
    // The schema itself is damaged, so the owner of the file is unknown. Setting it aside keeps it.
    if (sqliteFailureOf(error) === 'damaged') return
    throw error
  } finally {
    database.close()
  }
  throw new SondeError(
    'STO_FOREIGN',
    `${path} is a database of another program; give store.dir, or --data-dir, another folder`,
  )
}

/** Whether the file is a store, in any format version. */
export function hasOurTables(database: DatabaseSync): boolean {
  return queryNumber(database, "SELECT count(*) FROM sqlite_schema WHERE name IN ('head', 'segment', 'chunk')") > 0
}

/**
 * Renames a file, and returns its new name. Files of other formats are never deleted.
 *
 * @throws SondeError `STO_ASIDE` if too many files are already set aside.
 */
function setAside(path: string, why: 'corrupt' | 'newer' | 'older'): string {
  const prefix = `${path}.${why}-`
  const kept = readdirSync(dirname(path)).filter((name) => {
    return name.startsWith(basename(prefix)) && !/-(wal|shm|head)$/.test(name)
  })
  if (kept.length >= ASIDE_COUNT_LIMIT) {
    throw new SondeError(
      'STO_ASIDE',
      `${kept.length} files ${prefix}… lie beside the store, and another has to be set aside; move those that you need elsewhere and delete the others`,
    )
  }
  const aside = `${prefix}${new Date().toISOString().replaceAll(/[:.]/g, '-')}`
  for (const suffix of ['', '-wal', '-shm', '-head']) {
    if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix)
  }
  return aside
}

/** The single number that a query returns. */
export function queryNumber(database: DatabaseSync, sql: string): number {
  return Number(Object.values(database.prepare(sql).get() ?? {})[0] ?? 0)
}
