import { existsSync } from 'node:fs'
import { type Batch, SondeError } from '@sonde/sdk'
import { messageOf } from '@sonde/sdk/internal'
import { storeSettings } from './config.ts'
import { batchOf } from './texts.ts'
import { inTimeOrder } from './time-order.ts'
import { FORMAT_VERSION, hasOurTables, queryNumber } from './worker/database.ts'
import { DatabaseSync } from './worker/sqlite.ts'
import { StoreFile } from './worker/store-file.ts'
import { blocksOf, type StoredBlock, type StoredUnit, unitsOf } from './worker/stored-blocks.ts'

/** How long a read waits while a writer recovers the file. Unit: milliseconds. */
const BUSY_LIMIT_MS = 5000

/** Whether records of a block are wanted; called before the block is read. */
export type WantsBlock = (block: StoredBlock) => boolean

/** Reads the records of a store's file, even while a Sonde writes it. */
export interface StoreReader {
  /**
   * The records of every wanted block: by hour, then by type and source, and within these in order of arrival. Records
   * that are reported after the call may be missing; no record comes twice. The file is not locked between two blocks,
   * so that a slow caller does not block the writer.
   *
   * @param order `time`: by time instead of arrival, for which an hour of one type and source is kept in memory, up to
   * 256 MiB. Records of an application, or of a simulated past, may arrive late. Default: `arrival`.
   * @throws SondeError `STO_READ` if the disk fails.
   */
  read(wants: WantsBlock, order?: 'arrival' | 'time'): Generator<Batch>
  /** Damaged pieces of the file that were skipped so far. */
  readonly damagedCount: number
  close(): void
}

/**
 * Opens the file of a store for reading. Does not change it.
 *
 * @throws SondeError `STO_READ` if the file is missing, damaged or of another format; `STO_FOREIGN` if it is a
 * database of another program.
 */
export function openStoreReader(path: string): StoreReader {
  if (!existsSync(path)) throw unreadable(path, 'it is not there; give the file of a store, or its folder')
  return trying(path, () => new FileReader(path))
}

class FileReader implements StoreReader {
  readonly #path: string
  readonly #database: DatabaseSync
  #file: StoreFile
  #version = -1

  constructor(path: string) {
    this.#path = path
    this.#database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_LIMIT_MS })
    try {
      checkFormat(this.#database, path)
      this.#file = this.#open()
    } catch (error) {
      this.#database.close()
      throw error
    }
  }

  get damagedCount(): number {
    return this.#file.corruptChunks
  }

  *read(wants: WantsBlock, order: 'arrival' | 'time' = 'arrival'): Generator<Batch> {
    const units = trying(this.#path, () =>
      this.#inSnapshot(() => {
        // New types and sources may have arrived since the file was opened.
        this.#file.forgetRead()
        this.#file = this.#open()
        return unitsOf(this.#file)
      }),
    )
    for (const unit of units) {
      const batches = this.#batchesOf(unit, wants)
      yield* order === 'time' ? inTimeOrder(batches) : batches
    }
  }

  *#batchesOf(unit: StoredUnit, wants: WantsBlock): Generator<Batch> {
    const blocks = blocksOf(this.#file, unit, wants)
    for (;;) {
      const next = trying(this.#path, () => this.#inSnapshot(() => blocks.next()))
      if (next.done === true) break
      for (const stored of next.value) yield batchOf(stored)
    }
  }

  close(): void {
    this.#file.close()
  }

  #open(): StoreFile {
    return new StoreFile(this.#database, storeSettings({ path: this.#path }), () => undefined)
  }

  /** Compaction moves records within the file, so data read together must come from one transaction. */
  #inSnapshot<T>(work: () => T): T {
    this.#database.exec('BEGIN')
    try {
      const version = queryNumber(this.#database, 'PRAGMA data_version')
      if (version !== this.#version) this.#file.forgetRead()
      this.#version = version
      return work()
    } finally {
      this.#database.exec('COMMIT')
    }
  }
}

function checkFormat(database: DatabaseSync, path: string): void {
  if (!hasOurTables(database)) {
    throw new SondeError('STO_FOREIGN', `${path} is a database of another program; give the file of a store`)
  }
  const format = queryNumber(database, 'PRAGMA user_version')
  if (format === FORMAT_VERSION) return
  throw unreadable(path, `it has format ${format}, and this Sonde reads format ${FORMAT_VERSION}`)
}

function trying<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof SondeError) throw error
    throw unreadable(path, messageOf(error), error)
  }
}

function unreadable(path: string, why: string, cause?: unknown): SondeError {
  return new SondeError('STO_READ', `${path} cannot be read: ${why}`, cause === undefined ? {} : { cause })
}
