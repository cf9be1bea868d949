import {
  closeSync,
  copyFileSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writevSync,
} from 'node:fs'
import { join } from 'node:path'
import { PRIVATE_FILE_MODE, PRIVATE_FOLDER_MODE } from '@sonde/sdk/internal'
import type { StoreSettings } from '../config.ts'

/** Location of the body of a row: `place` and `bytes` in the file with that number. Unit: bytes. */
export interface BodyPlace {
  readonly file: number
  readonly place: number
  readonly bytes: number
}

/** Length at which a file is full, or a part of `max_bytes` if that is less. Unit: bytes. */
const FILE_BYTES_MAX = 64 << 20
const FILE_BYTES_MIN = 64 << 10
const FILE_PART = 1 / 64
const FILE_NAME = /^(\d{1,15})\.records$/

const NO_MEMORY = new Uint8Array(0)

interface HeadFile {
  bytes: number
  /** Number of bytes that rows refer to. */
  neededBytes: number
}

interface OpenFile {
  readonly file: number
  readonly descriptor: number
}

/**
 * The files with the bodies of the head. They are only appended to, and only by the opening that created them. The rows
 * of the head show which of their bytes are in use.
 */
export class HeadFiles {
  readonly #folder: string
  readonly #fileBytes: number
  readonly #isDurable: boolean
  readonly #files = new Map<number, HeadFile>()
  #lastFile = 0
  #written: OpenFile | undefined
  #read: OpenFile | undefined
  #waiting: Uint8Array[] = []
  /** Files whose bytes may still be in kernel memory only. */
  readonly #unsynced = new Set<number>()

  constructor(folder: string, { maxBytes, durability }: Pick<StoreSettings, 'maxBytes' | 'durability'>) {
    this.#folder = folder
    this.#fileBytes = Math.max(FILE_BYTES_MIN, Math.min(FILE_BYTES_MAX, maxBytes * FILE_PART))
    this.#isDurable = durability === 'block'
  }

  /** Size of all files in use. Unit: bytes. */
  get bytes(): number {
    let bytes = 0
    for (const file of this.#files.values()) if (file.neededBytes > 0) bytes += file.bytes
    return bytes
  }

  /** Whether the current file is still at its path. */
  get isThere(): boolean {
    return this.#written === undefined || existsSync(this.#pathOf(this.#written.file))
  }

  /** Files without used bytes, except the current file. */
  get emptyFiles(): number[] {
    const written = this.#written?.file
    return [...this.#files].flatMap(([id, { neededBytes }]) => (id !== written && neededBytes === 0 ? [id] : []))
  }

  /** The oldest file in use. */
  get oldestFile(): number | undefined {
    const held = [...this.#files].filter(([, { neededBytes }]) => neededBytes > 0)
    return held.length === 0 ? undefined : Math.min(...held.map(([file]) => file))
  }

  /** Renames a file of another program that has the name of the folder. */
  makeWay(): void {
    if (lstatSync(this.#folder, { throwIfNoEntry: false }) === undefined || isFolder(this.#folder)) return
    renameSync(this.#folder, `${this.#folder}.corrupt-${Date.now()}`)
  }

  /** Lists the existing files with their lengths. */
  list(): ReadonlyMap<number, { readonly bytes: number }> {
    if (!isFolder(this.#folder)) return this.#files
    for (const name of readdirSync(this.#folder)) {
      const file = Number(FILE_NAME.exec(name)?.[1])
      if (Number.isNaN(file)) continue
      this.#files.set(file, { bytes: statSync(join(this.#folder, name)).size, neededBytes: 0 })
      this.#lastFile = Math.max(this.#lastFile, file)
      // Its bytes may come from a run that ended before they reached the disk.
      this.#unsynced.add(file)
    }
    return this.#files
  }

  /** Adds to the used bytes of a file; a negative number subtracts. */
  need(file: number, bytes: number): void {
    const found = this.#files.get(file)
    if (found !== undefined) found.neededBytes += bytes
  }

  /** Takes the pieces of a body, which {@link write} appends. Until then the caller must not change their memory. */
  add(pieces: readonly Uint8Array[]): BodyPlace {
    let file = this.#files.get(this.#written?.file ?? 0)
    if (this.#written === undefined || file === undefined || file.bytes >= this.#fileBytes) {
      file = { bytes: 0, neededBytes: 0 }
      this.#begin(file)
    }
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0)
    const place = { file: this.#lastFile, place: file.bytes, bytes }
    this.#waiting.push(...pieces)
    file.bytes += bytes
    file.neededBytes += bytes
    return place
  }

  /** Appends the added bodies; with `durability: block` they are on the disk afterwards. */
  write(): void {
    const written = this.#written
    if (written === undefined || this.#waiting.length === 0) return
    writeAll(written.descriptor, this.#waiting)
    this.#waiting = []
    if (this.#isDurable) fdatasyncSync(written.descriptor)
    else this.#unsynced.add(written.file)
  }

  /** Waits until all written bytes are on the disk. */
  sync(): void {
    for (const file of this.#unsynced) {
      const descriptor = this.#open(file)
      if (descriptor === undefined) continue
      fdatasyncSync(descriptor)
      closeSync(descriptor)
    }
    if (this.#unsynced.size > 0) this.#syncFolder()
    this.#unsynced.clear()
  }

  /**
   * The bytes of a body, in `memory` if they fit; undefined if the file does not have them.
   */
  read({ file, place, bytes }: BodyPlace, memory: Uint8Array = NO_MEMORY): Uint8Array | undefined {
    if (this.#read?.file !== file) {
      this.forget()
      const descriptor = this.#open(file)
      if (descriptor === undefined) return undefined
      this.#read = { file, descriptor }
    }
    const { descriptor } = this.#read
    // A damaged row may state any size, which must not reserve memory.
    if (!(place >= 0 && bytes >= 0 && place + bytes <= fstatSync(descriptor).size)) return undefined
    // Views need whole words.
    const body = (memory.length >= bytes ? memory : new Uint8Array((bytes + 7) & ~7)).subarray(0, bytes)
    let length = 0
    while (length < bytes) {
      const more = readSync(descriptor, body, length, bytes - length, place + length)
      if (more === 0) return undefined
      length += more
    }
    return body
  }

  /** Files of which less than half is in use. The current file is sealed first if it is among them. */
  sealSparse(): number[] {
    const isSparse = ({ bytes, neededBytes }: HeadFile) => 2 * neededBytes < bytes
    const sparse = [...this.#files].flatMap(([id, file]) => (isSparse(file) ? [id] : []))
    for (const file of sparse) this.seal(file)
    return sparse
  }

  /** Seals a file if it is the current one, so that nothing more is appended. */
  seal(file: number): void {
    if (this.#written?.file !== file) return
    this.write()
    closeSync(this.#written.descriptor)
    this.#written = undefined
  }

  /** Deletes a file. */
  remove(file: number): void {
    if (this.#read?.file === file) this.forget()
    rmSync(this.#pathOf(file), { force: true, recursive: true })
    this.#unsynced.delete(file)
    this.#files.delete(file)
  }

  /** Another process may have created other files since the last read. */
  forget(): void {
    if (this.#read !== undefined) closeSync(this.#read.descriptor)
    this.#read = undefined
  }

  close(): void {
    this.forget()
    if (this.#written !== undefined) closeSync(this.#written.descriptor)
    this.#written = undefined
  }

  #begin(file: HeadFile): void {
    this.seal(this.#lastFile)
    // Does not create parent folders: if the folder of the store was removed, it must not be created again.
    if (!existsSync(this.#folder)) mkdirSync(this.#folder, PRIVATE_FOLDER_MODE)
    // No number is used twice, even if all files are deleted: a reader may still have a file of an earlier start open.
    this.#lastFile = Math.max(this.#lastFile + 1, Date.now())
    const descriptor = openSync(this.#pathOf(this.#lastFile), 'ax', PRIVATE_FILE_MODE)
    this.#written = { file: this.#lastFile, descriptor }
    this.#files.set(this.#lastFile, file)
    if (this.#isDurable) this.#syncFolder()
  }

  /** Opens a file for reading; undefined if it is missing. */
  #open(file: number): number | undefined {
    const path = this.#pathOf(file)
    return statSync(path, { throwIfNoEntry: false })?.isFile() ? openSync(path, 'r') : undefined
  }

  #syncFolder(): void {
    // Windows does not support this.
    if (process.platform === 'win32') return
    const descriptor = openSync(this.#folder, 'r')
    fsyncSync(descriptor)
    closeSync(descriptor)
  }

  #pathOf(file: number): string {
    return join(this.#folder, `${file}.records`)
  }
}

/** The folder with the files of a store's head. */
export function headFolderOf(storePath: string): string {
  return `${storePath}-head`
}

/**
 * Also moves the files of a store that was set aside to its successor. If a file cannot be moved, the rows in it are
 * lost.
 */
export function carryHeadFiles(fromPath: string, toPath: string, files: readonly number[]): void {
  const [from, to] = [headFolderOf(fromPath), headFolderOf(toPath)]
  if (files.length === 0 || !existsSync(from)) return
  mkdirSync(to, PRIVATE_FOLDER_MODE)
  for (const file of files) {
    const name = `${file}.records`
    try {
      linkSync(join(from, name), join(to, name))
    } catch {
      try {
        copyFileSync(join(from, name), join(to, name))
      } catch {
        rmSync(join(to, name), { force: true })
      }
    }
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

function writeAll(descriptor: number, bodies: readonly Uint8Array[]): void {
  let rest = bodies
  while (rest.length > 0) {
    let written = writevSync(descriptor, rest)
    const next = rest.findIndex((body) => {
      if (written < body.length) return true
      written -= body.length
      return false
    })
    if (next < 0) return
    rest = [(rest[next] as Uint8Array).subarray(written), ...rest.slice(next + 1)]
  }
}
