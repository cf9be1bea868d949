import fs from 'node:fs'
import { basename } from 'node:path'
import { type AbsenceCode, SondeError } from '@sonde/sdk'
import { messageOf, openFilesLimit } from '@sonde/sdk/internal'
import { SlowReads } from './slow-reads.ts'

/**
 * Why a file could not be read. `missing`: it does not exist; `unsupported`: the driver refuses; `denied`: no
 * permission; `failed`: any other error.
 */
export type FailureKind = 'missing' | Exclude<AbsenceCode, 'gone' | 'not_sampled'>

/** State of a probe for each failure. A file that fails for lack of descriptors may exist. */
const PROBES = { missing: 'absent', unsupported: 'absent', denied: 'denied', failed: 'failed' } as const

/** A failed read. It is returned, not thrown, because files in sysfs often answer EINVAL. */
export class ReadFailure {
  readonly kind: FailureKind
  /** The file and the kernel's message, for people. */
  readonly error: Error

  constructor(kind: FailureKind, error: Error) {
    this.kind = kind
    this.error = error
  }

  /** Absence code of the value. If the file is missing, the driver does not have the value. */
  get code(): Exclude<FailureKind, 'missing'> {
    return this.kind === 'missing' ? 'unsupported' : this.kind
  }

  /** State of a probe that met this failure. */
  get probe(): { readonly state: 'absent' | 'denied' | 'failed'; readonly reason: string } {
    return { state: PROBES[this.kind], reason: this.words }
  }

  /** Reason for people. A missing file or folder needs no message of the kernel. */
  get words(): string {
    const path = this.kind === 'missing' ? pathOf(this.error.cause) : undefined
    return path === undefined ? this.error.message : `${path} is not there`
  }
}

function pathOf(cause: unknown): string | undefined {
  return cause instanceof Error && 'path' in cause && typeof cause.path === 'string' ? cause.path : undefined
}

/** Options of {@link KernelFiles}. */
export interface KernelFilesOptions {
  /**
   * Most descriptors kept open. Further files are opened and closed at every read. Default: 1 024, and never more than
   * an eighth of the process's limit.
   */
  descriptorLimit?: number
  /** Longest content of a file; longer content is a failed read. Unit: bytes. Default: 1 MiB. */
  fileBytesLimit?: number
  /**
   * Whether a file may be a symbolic link. With `refuse` a link is a failed read; folders in its path may still be
   * links. Default: `follow`.
   */
  links?: 'follow' | 'refuse'
  /** Reads after which a file is opened again, because its path may lead to another file by then. Default: 16. */
  readsPerOpen?: number
  /**
   * Whether a missing file is checked only when it would be opened again. Such a file usually appears only after a
   * module was loaded. Default: every read checks it.
   */
  remembersMissing?: boolean
}

/** The kernel limits an attribute of sysfs to one page. */
export const ATTRIBUTE_BYTES_LIMIT = 4096
const START_BYTES = 16_384
/** Numbers with their newline are shorter. */
const SHORT_BYTES = 32
/** Default for the longest file, for example a table of all interfaces. Unit: bytes. */
export const FILE_BYTES_LIMIT = 1 << 20
const DESCRIPTOR_LIMIT = 1024
/** Other parts of the process need most descriptors: sockets, history, other sources. */
const SHARE_LIMIT = Math.floor(openFilesLimit() / 8)
/**
 * procfs fills a page of 4 096 bytes with whole lines, and no line of a longer file is a quarter page long. A shorter
 * read is therefore the last.
 */
const LAST_READ_BYTES = 1024

/**
 * Without these flags, opening a FIFO waits for its writer, and a terminal becomes the controlling terminal. They have
 * no effect on the kernel's own files.
 */
export const OPEN_FLAGS = fs.constants.O_RDONLY | fs.constants.O_NONBLOCK | fs.constants.O_NOCTTY
const READS_PER_OPEN = 16

/**
 * Errors of a stale descriptor: its device left, its mount was replaced, or it is closed. The file is then opened again
 * once.
 */
const STALE = new Set(['ENODEV', 'ENOENT', 'ENXIO', 'ESTALE', 'EBADF', 'ENOTCONN'])
const KINDS: Readonly<Record<string, FailureKind>> = {
  ENOENT: 'missing',
  ENOTDIR: 'missing',
  ENODEV: 'missing',
  ENXIO: 'missing',
  EINVAL: 'unsupported',
  ENOTSUP: 'unsupported',
  EOPNOTSUPP: 'unsupported',
  EACCES: 'denied',
  EPERM: 'denied',
}

/** Classifies an error of the file system. */
export function failureKind(error: unknown): FailureKind {
  return KINDS[kernelErrorCode(error)] ?? 'failed'
}

/** Error code of the system, such as EACCES; empty if there is none. */
export function kernelErrorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/**
 * Files of the kernel below one root, read into one shared buffer. A read with a kept descriptor is nine times cheaper
 * than opening the file again. At the limit of descriptors the open files stay open: in a sweep, the oldest file is the
 * next to be read.
 */
export class KernelFiles {
  readonly root: string
  readonly #descriptorLimit: number
  readonly #fileBytesLimit: number
  /** For {@link KernelFile}: flags to open it with. */
  readonly openFlags: number
  /** For {@link KernelFile}: reads after which it is opened again. */
  readonly readsPerOpen: number
  /** For {@link KernelFile}: whether a missing file is checked only when it would be opened again. */
  readonly remembersMissing: boolean
  readonly #open = new Set<KernelFile>()
  #buffer: Buffer = Buffer.allocUnsafe(START_BYTES)
  /**
   * Views of the start of the buffer by length, for short files: creating a view takes as long as parsing the content.
   */
  #starts: Uint8Array[] = []
  #made = 0

  constructor(root: string, options: KernelFilesOptions = {}) {
    this.root = root
    this.#descriptorLimit = Math.min(options.descriptorLimit ?? DESCRIPTOR_LIMIT, SHARE_LIMIT)
    this.#fileBytesLimit = options.fileBytesLimit ?? FILE_BYTES_LIMIT
    this.readsPerOpen = options.readsPerOpen ?? READS_PER_OPEN
    this.remembersMissing = options.remembersMissing ?? false
    this.openFlags = options.links === 'refuse' ? OPEN_FLAGS | fs.constants.O_NOFOLLOW : OPEN_FLAGS
  }

  /** Paces files that the firmware serves slowly. */
  readonly slowReads = new SlowReads()

  /** Number of open descriptors. */
  get openCount(): number {
    return this.#open.size
  }

  /**
   * Returns a file by its path below the root; its first read opens it. Each part is a single name, so that names from
   * the kernel cannot lead out of the root. A name that is not UTF-8 is given as bytes.
   *
   * @throws SondeError `SRC_PATH` if a part is empty, `.`, `..`, or contains a slash or NUL.
   */
  file(...parts: readonly (string | Buffer)[]): KernelFile {
    for (const part of parts) {
      const name = typeof part === 'string' ? part : part.toString('latin1')
      if (name === '' || name === '.' || name === '..' || name.includes('/') || name.includes('\0')) {
        throw new SondeError('SRC_PATH', `${JSON.stringify(name)} is no file name below ${this.root}; use single names`)
      }
    }
    const path = Buffer.concat(
      [this.root, ...parts].flatMap((part, at) => [Buffer.from(at > 0 ? '/' : ''), Buffer.from(part)]),
    )
    // Spreads the opening of files over different sweeps.
    return new KernelFile(this, path, this.#made++ % this.readsPerOpen)
  }

  /** Names in a folder below the root. */
  list(...parts: readonly string[]): string[] | ReadFailure {
    return this.#attempt(parts, (path) => fs.readdirSync(path))
  }

  /** Last name of a link's target, without following the link: the driver for `driver`, the device for `device`. */
  linkName(...parts: readonly string[]): string | ReadFailure {
    return this.#attempt(parts, (path) => basename(fs.readlinkSync(path)))
  }

  /** Closes every descriptor. Later reads open the files again. */
  close(): void {
    for (const file of this.#open) file.close()
  }

  /** For {@link KernelFile}: whether it may keep its descriptor. */
  keep(file: KernelFile): boolean {
    if (this.#open.size >= this.#descriptorLimit) return false
    this.#open.add(file)
    return true
  }

  /** For {@link KernelFile}: reports that its descriptor is closed. */
  release(file: KernelFile): void {
    this.#open.delete(file)
  }

  /**
   * For {@link KernelFile}: reads the complete content. sysfs returns an attribute at once, procfs one page per read.
   * Throws the kernel's error.
   */
  readAll(descriptor: number, path: string): Uint8Array {
    let length = 0
    for (;;) {
      const read = fs.readSync(descriptor, this.#buffer, length, this.#buffer.length - length, length)
      length += read
      if (length > this.#fileBytesLimit) {
        throw new SondeError('SRC_FILE_SIZE', `${path} is longer than ${this.#fileBytesLimit} bytes`)
      }
      if (length === this.#buffer.length) this.#grow()
      else if (read < LAST_READ_BYTES) return this.#start(length)
    }
  }

  #attempt<T>(parts: readonly string[], look: (path: string) => T): T | ReadFailure {
    try {
      return look([this.root, ...parts].join('/'))
    } catch (error) {
      return new ReadFailure(failureKind(error), new SondeError('SRC_READ', messageOf(error), { cause: error }))
    }
  }

  #start(length: number): Uint8Array {
    if (length >= SHORT_BYTES) return this.#buffer.subarray(0, length)
    this.#starts[length] ??= this.#buffer.subarray(0, length)
    return this.#starts[length]
  }

  #grow(): void {
    this.#starts = []
    const larger = Buffer.allocUnsafe(this.#buffer.length * 2)
    larger.set(this.#buffer)
    this.#buffer = larger
  }
}

/** One file with a descriptor that stays open. Created by {@link KernelFiles.file}. */
export class KernelFile {
  /** Path for people; bytes that are not UTF-8 become replacement characters. */
  readonly path: string
  readonly #path: string | Buffer
  readonly #files: KernelFiles
  #descriptor = -1
  /** Remembered failure of a missing file. */
  #missing: ReadFailure | undefined
  #reads: number

  constructor(files: KernelFiles, path: Buffer, reads: number) {
    this.#files = files
    this.path = path.toString()
    this.#path = Buffer.from(this.path).equals(path) ? this.path : path
    this.#reads = reads
  }

  /** Paces slow files of the same source. */
  get slowReads(): SlowReads {
    return this.#files.slowReads
  }

  /**
   * Returns the content of the file, valid until the next read of any file of the same {@link KernelFiles}. The file is
   * opened again if its descriptor is stale, if the content is empty (its mount may have been replaced), and at every
   * sixteenth read or as the options say. Never waits for a writer.
   */
  read(): Uint8Array | ReadFailure {
    if (++this.#reads % this.#files.readsPerOpen === 0) this.close()
    if (this.#missing !== undefined) return this.#missing
    if (this.#descriptor !== -1) {
      try {
        const bytes = this.#files.readAll(this.#descriptor, this.path)
        if (bytes.length > 0) return bytes
      } catch (error) {
        if (!STALE.has(kernelErrorCode(error))) return this.#failure(error)
      }
      this.close()
    }
    try {
      return this.#readFresh()
    } catch (error) {
      return this.#failure(error)
    }
  }

  /**
   * Opens the file again and reads it. For rare reads, because a replaced file would otherwise be noticed only after
   * several reads.
   */
  readAnew(): Uint8Array | ReadFailure {
    this.close()
    return this.read()
  }

  /** Closes the descriptor; the next read opens the file again. May be called twice. */
  close(): void {
    this.#missing = undefined
    const descriptor = this.#descriptor
    if (descriptor === -1) return
    this.#descriptor = -1
    this.#files.release(this)
    try {
      fs.closeSync(descriptor)
    } catch (error) {
      if (kernelErrorCode(error) !== 'EBADF') throw error
    }
  }

  #readFresh(): Uint8Array {
    const descriptor = fs.openSync(this.#path, this.#files.openFlags)
    if (this.#files.keep(this)) {
      this.#descriptor = descriptor
      return this.#files.readAll(descriptor, this.path)
    }
    try {
      return this.#files.readAll(descriptor, this.path)
    } finally {
      fs.closeSync(descriptor)
    }
  }

  /**
   * A driver that refuses a read keeps refusing, so its descriptor is kept. Any other failure may end with the next
   * open.
   */
  #failure(error: unknown): ReadFailure {
    const kind = failureKind(error)
    if (kind !== 'unsupported') this.close()
    const said = error instanceof Error ? error.message : String(error)
    const message = said.includes(this.path) ? said : `${this.path}: ${said}`
    const failure = new ReadFailure(kind, new SondeError('SRC_READ', message, { cause: error }))
    if (kind === 'missing' && this.#files.remembersMissing) this.#missing = failure
    return failure
  }
}
