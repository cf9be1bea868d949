import { closeSync, constants, ftruncateSync, openSync, writevSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { SondeError } from '../errors.ts'
import { makeFolders, makeFoldersNow } from '../internal/make-folders.ts'
import { PRIVATE_FILE_MODE } from '../internal/private-files.ts'
import { encodeEndBlock } from '../wire/dtb/encode.ts'
import type { Disk, DiskFile } from './disk.ts'
import { codeOf } from './error-code.ts'
import { refuseLinks, refuseLinksNow } from './links.ts'

/** The last block of every file. */
export const END_BLOCK = encodeEndBlock()

/** What a file has announced. */
export interface FileContents {
  /** The file is there, and nothing in it. Unit: microseconds since the Unix epoch. */
  begin(createdUs: number): void
}

/** How far an attempt to write came. */
export interface Appended {
  /** Blocks that are in the file, from the first. */
  readonly written: number
  /** Why not all of them are. */
  readonly error?: unknown
}

/** The location of a new file. */
export interface FileLocation {
  readonly disk: Disk
  /** The folder of all files. */
  readonly root: string
  readonly folder: string
  /** Name of the file for a time. Unit: microseconds since the Unix epoch. */
  readonly nameAt: (timeUs: number) => string
  readonly timeUs: number
}

/** A file that was made. */
interface Opened {
  readonly disk: Disk
  readonly path: string
  readonly timeUs: number
  readonly handle?: DiskFile
}

/** A file under way: what is in it, and how far. Only whole blocks are ever left in it. */
export class RecordFile<C extends FileContents = FileContents> {
  readonly path: string
  /** When it was made, as its name says. Unit: microseconds since the Unix epoch. */
  readonly timeUs: number
  readonly contents: C
  /** When it was made, by a clock that only rises. Unit: milliseconds. */
  readonly madeMs: number
  /** When it was last written to. */
  usedMs: number
  /** Whether the block that ends it is in it. */
  isEnded = false
  /** Whether somebody removed it. */
  isGone = false
  /** When it was last looked at whether it is still there. */
  seenMs: number
  /** Size of what holds. Unit: bytes. */
  bytes = 0
  /** Blocks of records in it. */
  recordBlocks = 0
  readonly #disk: Disk
  #handle: DiskFile | undefined
  #underWay: readonly Uint8Array[] = []
  #isBusy = false
  #isDirty = true
  #syncing: Promise<void> | undefined

  private constructor({ disk, path, timeUs, handle }: Opened, contents: C, nowMs: number) {
    this.#disk = disk
    this.path = path
    this.timeUs = timeUs
    this.contents = contents
    this.madeMs = nowMs
    this.usedMs = nowMs
    this.seenMs = nowMs
    this.#handle = handle
  }

  /**
   * Makes a new, empty file; if its time is taken, the next time is used. Its head is written with its first records.
   * Returns the folders with a new entry too.
   */
  static async create<C extends FileContents>(
    place: FileLocation,
    contents: C,
    nowMs: number,
  ): Promise<[RecordFile<C>, readonly string[]]> {
    const { firstMade, ...opened } = await openNew(place)
    contents.begin(opened.timeUs)
    return [new RecordFile(opened, contents, nowMs), changedFolders(place, firstMade)]
  }

  /** {@link create} for a process that ends and cannot wait. */
  static createNow<C extends FileContents>(place: FileLocation, contents: C, nowMs: number): RecordFile<C> {
    refuseLinksNow(place.root, place.folder)
    makeFoldersNow(place.folder)
    for (let { timeUs } = place; ; timeUs++) {
      const path = join(place.folder, place.nameAt(timeUs))
      try {
        closeSync(openSync(path, 'wx', PRIVATE_FILE_MODE))
      } catch (error) {
        if (codeOf(error) === 'EEXIST') continue
        throw error
      }
      contents.begin(timeUs)
      return new RecordFile({ disk: place.disk, path, timeUs }, contents, nowMs)
    }
  }

  /** Whether it has a descriptor that could be closed for now. */
  get canRest(): boolean {
    return this.#handle !== undefined && !this.#isBusy && this.#syncing === undefined
  }

  /** Whether something was appended that the disk was not asked to take. */
  get isDirty(): boolean {
    return this.#isDirty
  }

  /** Blocks that are being written. */
  get underWay(): readonly Uint8Array[] {
    return this.#underWay
  }

  /** Appends blocks with one call. A partial write is cut off and tried again once. */
  async append(blocks: readonly Uint8Array[]): Promise<Appended> {
    let written = 0
    this.#isBusy = true
    try {
      const handle = await this.#opened()
      for (let attempts = 2; attempts > 0 && written < blocks.length; attempts--) {
        this.#underWay = written === 0 ? blocks : blocks.slice(written)
        const { bytesWritten } = await handle.writev(this.#underWay, this.bytes)
        const [whole, bytes] = wholeBlocks(this.#underWay, bytesWritten)
        written += whole
        this.bytes += bytes
        if (bytes < bytesWritten) await handle.truncate(this.bytes)
        if (whole > 0) attempts = 2
      }
      return written === blocks.length ? { written } : { written, error: cutShort(this.path) }
    } catch (error) {
      return { written, error: (await this.#cut()) ?? error }
    } finally {
      this.#underWay = []
      this.#isBusy = false
      this.#isDirty = true
    }
  }

  /**
   * Appends synchronously, for a process that ends and cannot wait. A write in progress is repeated with the same bytes
   * at the same offset.
   *
   * @throws the error of the system, after an attempt to cut off a partial write.
   */
  appendNow(blocks: readonly Uint8Array[]): void {
    const descriptor = openSync(this.path, constants.O_RDWR | constants.O_NOFOLLOW)
    try {
      for (const block of [...this.#underWay, ...blocks]) {
        if (writevSync(descriptor, [block], this.bytes) < block.byteLength) {
          ftruncateSync(descriptor, this.bytes)
          throw cutShort(this.path)
        }
        this.bytes += block.byteLength
        if (block === END_BLOCK) this.isEnded = true
      }
    } finally {
      closeSync(descriptor)
      this.#underWay = []
    }
  }

  /** {@link end} for a process that ends and cannot wait. */
  endNow(): void {
    if (!this.isEnded && this.recordBlocks > 0) this.appendNow([END_BLOCK])
  }

  /** Has the disk take everything that was appended. */
  async sync(): Promise<void> {
    while (this.#syncing !== undefined) await this.#syncing
    if (!this.#isDirty) return
    this.#isDirty = false
    const syncing = this.#opened().then((handle) => handle.datasync())
    this.#syncing = syncing.finally(() => {
      this.#syncing = undefined
    })
    try {
      await this.#syncing
    } catch (error) {
      this.#isDirty = true
      throw error
    }
  }

  /**
   * Closes the descriptor until it is needed, once the disk has everything where `isSynced`; not while it is needed.
   */
  async rest({ isSynced }: { readonly isSynced: boolean }): Promise<void> {
    if (isSynced) await this.sync()
    if (this.canRest) await this.#close()
  }

  async #close(): Promise<void> {
    const handle = this.#handle
    this.#handle = undefined
    await handle?.close()
  }

  /** Appends the block that says so, and closes; the disk has everything where `isSynced`. */
  async end({ isSynced }: { readonly isSynced: boolean }): Promise<void> {
    try {
      const { error } = this.isEnded ? {} : await this.append([END_BLOCK])
      if (isSynced) await this.sync()
      if (error !== undefined) throw error
    } finally {
      await this.#syncing
      await this.#close()
    }
  }

  /** Checks whether the file was removed: no reader would see later writes. */
  async look(nowMs: number): Promise<void> {
    this.seenMs = nowMs
    try {
      await this.#disk.stat(this.path)
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error
      this.isGone = true
    }
  }

  /** Removes the file: there is nothing in it. */
  async remove(): Promise<void> {
    await this.#close()
    await this.#disk.unlink(this.path)
  }

  /** The same file again: nobody else writes to it, but it may have been removed. */
  async #opened(): Promise<DiskFile> {
    this.#handle ??= await this.#disk.open(this.path, 'r+')
    return this.#handle
  }

  /** After an error nobody knows how much was written: everything after the last block that holds is cut off. */
  async #cut(): Promise<unknown> {
    try {
      await this.#handle?.truncate(this.bytes)
      return undefined
    } catch (error) {
      return error
    }
  }
}

async function openNew(place: FileLocation): Promise<Opened & { readonly firstMade: string | undefined }> {
  const { disk } = place
  let firstMade: string | undefined
  await refuseLinks(disk, place.root, place.folder)
  for (let { timeUs } = place, missing = 0; ; ) {
    const path = join(place.folder, place.nameAt(timeUs))
    try {
      return { disk, handle: await disk.open(path, 'wx'), path, timeUs, firstMade }
    } catch (error) {
      if (codeOf(error) === 'EEXIST') timeUs++
      // More than once: retention removes folders that are empty.
      else if (codeOf(error) === 'ENOENT' && missing++ < 3)
        firstMade ??= await disk.inTurn(() => makeFolders(place.folder))
      else throw error
    }
  }
}

/** Has the disk take the entries of folders. */
export async function syncFolders(disk: Disk, folders: readonly string[]): Promise<void> {
  for (const folder of folders) await disk.syncFolder(folder)
}

/** The folder of the file, and those above it up to the one that has the first new folder in it. */
function changedFolders({ folder }: FileLocation, firstMade: string | undefined): string[] {
  const folders = [folder]
  if (firstMade === undefined) return folders
  const last = dirname(firstMade)
  for (let at = folder; at !== last && at !== dirname(at); ) {
    at = dirname(at)
    folders.push(at)
  }
  return folders
}

function wholeBlocks(blocks: readonly Uint8Array[], bytesWritten: number): [count: number, bytes: number] {
  let bytes = 0
  for (const [i, block] of blocks.entries()) {
    if (bytes + block.byteLength > bytesWritten) return [i, bytes]
    bytes += block.byteLength
  }
  return [blocks.length, bytes]
}

function cutShort(path: string): SondeError {
  return new SondeError(
    'FIL_SHORT',
    `${path}: the system wrote less than it was given, twice; is there room on the disk?`,
  )
}
