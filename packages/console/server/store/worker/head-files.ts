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

/** Where the body of a row lies: `place` and `bytes` in the file with that number. Unit: bytes. */
export interface BodyPlace {
  readonly file: number
  readonly place: number
  readonly bytes: number
}

/** A file is full at this length, or at a part of `max_bytes` if that is less. Unit: bytes. */
const FILE_BYTES_MAX = 64 << 20
const FILE_BYTES_MIN = 64 << 10
const FILE_PART = 1 / 64
const FILE_NAME = /^(\d{1,15})\.records$/

const NO_MEMORY = new Uint8Array(0)

interface HeadFile {
  bytes: number
  /** Bytes to which rows refer. */
  neededBytes: number
}

interface OpenFile {
  readonly file: number
  readonly descriptor: number
}

/**
 * The files that hold the bodies of the head. They are only appended to, by the opening that made them; which of their
 * bytes count is in the rows of the head.
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
  /** Files whose bytes may be in memory of the kernel alone. */
  readonly #unsynced = new Set<number>()

  constructor(folder: string, { maxBytes, durability }: Pick<StoreSettings, 'maxBytes' | 'durability'>) {
    this.#folder = folder
    this.#fileBytes = Math.max(FILE_BYTES_MIN, Math.min(FILE_BYTES_MAX, maxBytes * FILE_PART))
    this.#isDurable = durability === 'block'
  }

  /** What the files take that hold something. Unit: bytes. */
  get bytes(): number {
    let bytes = 0
    for (const file of this.#files.values()) if (file.neededBytes > 0) bytes += file.bytes
    return bytes
  }

  /** Whether the file that is written is where it was made. */
  get isThere(): boolean {
    return this.#written === undefined || existsSync(this.#pathOf(this.#written.file))
  }

  /** Files of which nothing is needed, but for the file that is written. */
  get emptyFiles(): number[] {
    const written = this.#written?.file
    return [...this.#files].flatMap(([id, { neededBytes }]) => (id !== written && neededBytes === 0 ? [id] : []))
  }

  /** The file that was made first of those that hold something. */
  get oldestFile(): number | undefined {
    const held = [...this.#files].filter(([, { neededBytes }]) => neededBytes > 0)
    return held.length === 0 ? undefined : Math.min(...held.map(([file]) => file))
  }

  /** Moves a file of another program that lies in place of the folder. */
  makeWay(): void {
    if (lstatSync(this.#folder, { throwIfNoEntry: false }) === undefined || isFolder(this.#folder)) return
    renameSync(this.#folder, `${this.#folder}.corrupt-${Date.now()}`)
  }

  /** Looks which files there are, and how long they are. */
  list(): ReadonlyMap<number, { readonly bytes: number }> {
    if (!isFolder(this.#folder)) return this.#files
    for (const name of readdirSync(this.#folder)) {
      const file = Number(FILE_NAME.exec(name)?.[1])
      if (Number.isNaN(file)) continue
      this.#files.set(file, { bytes: statSync(join(this.#folder, name)).size, neededBytes: 0 })
      this.#lastFile = Math.max(this.#lastFile, file)
      // It may be of a run that ended before its bytes were on the disk.
      this.#unsynced.add(file)
    }
    return this.#files
  }

  /** A row refers to so many bytes of a file more; below zero, fewer. */
  need(file: number, bytes: number): void {
    const found = this.#files.get(file)
    if (found !== undefined) found.neededBytes += bytes
  }

  /** Takes the pieces of a body, which {@link write} appends; until then their memory must stay as it is. */
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

  /** Appends what was added; with `durability: block` it is on the disk then. */
  write(): void {
    const written = this.#written
    if (written === undefined || this.#waiting.length === 0) return
    writeAll(written.descriptor, this.#waiting)
    this.#waiting = []
    if (this.#isDurable) fdatasyncSync(written.descriptor)
    else this.#unsynced.add(written.file)
  }

  /** Waits until everything that was written is on the disk. */
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
   * The bytes of a body, in `memory` if that has room for them; undefined if the file does not have them.
   */
  read({ file, place, bytes }: BodyPlace, memory: Uint8Array = NO_MEMORY): Uint8Array | undefined {
    if (this.#read?.file !== file) {
      this.forget()
      const descriptor = this.#open(file)
      if (descriptor === undefined) return undefined
      this.#read = { file, descriptor }
    }
    const { descriptor } = this.#read
    // What a damaged row says of its size would take any memory.
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

  /** Gives the files of which less than half is needed, after it sealed the one that is written if that is one. */
  sealSparse(): number[] {
    const isSparse = ({ bytes, neededBytes }: HeadFile) => 2 * neededBytes < bytes
    const sparse = [...this.#files].flatMap(([id, file]) => (isSparse(file) ? [id] : []))
    for (const file of sparse) this.seal(file)
    return sparse
  }

  /** A file gets no more, if it is the one that is written. */
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

  /** Another process may have made other files since something was read. */
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
    // Not those above it: where the folder of the store was taken away, none must be made in its place.
    if (!existsSync(this.#folder)) mkdirSync(this.#folder, PRIVATE_FOLDER_MODE)
    // No number is given twice, also where all files are gone: a reader may still have a file of an earlier start open.
    this.#lastFile = Math.max(this.#lastFile + 1, Date.now())
    const descriptor = openSync(this.#pathOf(this.#lastFile), 'ax', PRIVATE_FILE_MODE)
    this.#written = { file: this.#lastFile, descriptor }
    this.#files.set(this.#lastFile, file)
    if (this.#isDurable) this.#syncFolder()
  }

  /** Opens a file for reading; undefined if there is none. */
  #open(file: number): number | undefined {
    const path = this.#pathOf(file)
    return statSync(path, { throwIfNoEntry: false })?.isFile() ? openSync(path, 'r') : undefined
  }

  #syncFolder(): void {
    // Windows has no such thing.
    if (process.platform === 'win32') return
    const descriptor = openSync(this.#folder, 'r')
    fsyncSync(descriptor)
    closeSync(descriptor)
  }

  #pathOf(file: number): string {
    return join(this.#folder, `${file}.records`)
  }
}

/** The folder of the files of a store's head. */
export function headFolderOf(storePath: string): string {
  return `${storePath}-head`
}

/**
 * Puts the files of a store that was set aside into the place of its successor as well. A file that cannot be had is
 * missed by those who read its rows.
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
