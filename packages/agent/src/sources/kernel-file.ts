import fs from 'node:fs'
import { basename } from 'node:path'
import { type AbsenceCode, SondeError } from '@sonde/sdk'
import { messageOf, openFilesLimit } from '@sonde/sdk/internal'

/**
 * Why a file could not be read: `missing` is not there, `unsupported` is refused by the driver, `denied` is not
 * permitted, `failed` is the rest.
 */
export type FailureKind = 'missing' | Exclude<AbsenceCode, 'gone' | 'not_sampled'>

/** What a probe says of each: a file that could not be read, as there are no descriptors left, may well be there. */
const PROBES = { missing: 'absent', unsupported: 'absent', denied: 'denied', failed: 'failed' } as const

/** A read that gave nothing. Returned, not thrown: a file that answers EINVAL is an everyday thing in sysfs. */
export class ReadFailure {
  readonly kind: FailureKind
  /** The file and what the kernel said; fit for people. */
  readonly error: Error

  constructor(kind: FailureKind, error: Error) {
    this.kind = kind
    this.error = error
  }

  /** The code for a value that is absent for it: where there is no such file the driver does not have the value. */
  get code(): Exclude<FailureKind, 'missing'> {
    return this.kind === 'missing' ? 'unsupported' : this.kind
  }

  /** What a probe says that came to this. */
  get probe(): { readonly state: 'absent' | 'denied' | 'failed'; readonly reason: string } {
    return { state: PROBES[this.kind], reason: this.words }
  }

  /** Why, for people: a file or folder that is not there needs no word of the kernel's. */
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
   * Descriptors kept open at most; files beyond it are opened and closed at every read. Default: 1 024, and never more
   * than an eighth of what the process may have.
   */
  descriptorLimit?: number
  /** Longest text of one file; a longer one is a failed read. Unit: bytes. Default: 1 MiB. */
  fileBytesLimit?: number
  /**
   * Whether a file may be a link to another; one that may not is a failed read. Folders on the way to it may be links.
   * Default: `follow`.
   */
  links?: 'follow' | 'refuse'
  /**
   * Reads after which a file is opened anew: a descriptor says nothing when its path leads to another file by now.
   * Default: 16.
   */
  readsPerOpen?: number
  /**
   * Whether a file that is not there is looked for only when it would be opened anew: a kernel that lacks it now has it
   * after a module was loaded, if ever. Default: it is looked for at every read.
   */
  remembersMissing?: boolean
}

/** The kernel gives an attribute of sysfs a page at most. */
export const ATTRIBUTE_BYTES_LIMIT = 4096
const START_BYTES = 16_384
/** A number with its newline is shorter. */
const SHORT_BYTES = 32
/** The longest file that is read where nothing else is said: a table of all interfaces, say. Unit: bytes. */
export const FILE_BYTES_LIMIT = 1 << 20
const DESCRIPTOR_LIMIT = 1024
/** Of the descriptors that this process may have most are for others: sockets, history, other sources. */
const SHARE_LIMIT = Math.floor(openFilesLimit() / 8)
/**
 * procfs fills a page of 4 096 bytes with whole lines, and no line of a file of several is a quarter as long: less than
 * that much is the end.
 */
const LAST_READ_BYTES = 1024

/**
 * Opening a FIFO would wait for its writer, and a terminal would become ours; on the kernel's own files neither flag
 * does anything.
 */
export const OPEN_FLAGS = fs.constants.O_RDONLY | fs.constants.O_NONBLOCK | fs.constants.O_NOCTTY
const READS_PER_OPEN = 16

/**
 * What a stale descriptor answers: its device left, its mount was replaced, or it is no longer ours. One fresh open
 * settles which.
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

/** What kind of failure an error of the file system is. */
export function failureKind(error: unknown): FailureKind {
  return KINDS[codeOf(error)] ?? 'failed'
}

/** The system's own word for an error, such as EACCES; empty if it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/**
 * The kernel's files below one root, read into one shared buffer. A kept descriptor makes a read nine times cheaper
 * than opening the file anew. When the limit of descriptors is reached the files that are open stay so: dropping the
 * oldest would, in a sweep, drop exactly those that come next.
 */
export class KernelFiles {
  readonly root: string
  readonly #descriptorLimit: number
  readonly #fileBytesLimit: number
  /** For {@link KernelFile}: what it is opened with. */
  readonly openFlags: number
  /** For {@link KernelFile}: when it is opened anew. */
  readonly readsPerOpen: number
  /** For {@link KernelFile}: whether one that is not there is looked for only then. */
  readonly remembersMissing: boolean
  readonly #open = new Set<KernelFile>()
  #buffer: Buffer = Buffer.allocUnsafe(START_BYTES)
  /** Starts of the buffer by their length, for short files: to make one takes as long as to parse what it holds. */
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

  /** Descriptors open now. */
  get openCount(): number {
    return this.#open.size
  }

  /**
   * A file by its path below the root, opened at its first read. Each part is one name, so that nothing read from the
   * kernel can lead out of the root; a name that is not UTF-8 is given as its bytes.
   *
   * @throws SondeError `SRC_PATH` if a part is empty, `.`, `..`, or has a slash or NUL.
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
    // Files that are read together have their turns of being opened anew in different sweeps.
    return new KernelFile(this, path, this.#made++ % this.readsPerOpen)
  }

  /** Names in a folder below the root. */
  list(...parts: readonly string[]): string[] | ReadFailure {
    return this.#attempt(parts, (path) => fs.readdirSync(path))
  }

  /**
   * The last name of where a link leads, which is not followed: the driver behind `driver`, the device behind `device`.
   */
  linkName(...parts: readonly string[]): string | ReadFailure {
    return this.#attempt(parts, (path) => basename(fs.readlinkSync(path)))
  }

  /** Closes every descriptor. Files may be read again; they are then opened again. */
  close(): void {
    for (const file of this.#open) file.close()
  }

  /** For {@link KernelFile}: whether its descriptor may be kept. */
  keep(file: KernelFile): boolean {
    if (this.#open.size >= this.#descriptorLimit) return false
    this.#open.add(file)
    return true
  }

  /** For {@link KernelFile}: its descriptor is closed. */
  release(file: KernelFile): void {
    this.#open.delete(file)
  }

  /**
   * For {@link KernelFile}: the whole text behind a descriptor. sysfs gives an attribute whole, procfs a page at a
   * time. Throws what the kernel answers.
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

/** One file whose descriptor stays open. Made by {@link KernelFiles.file}. */
export class KernelFile {
  /** For people; where the path is not UTF-8, with replacement characters. */
  readonly path: string
  readonly #path: string | Buffer
  readonly #files: KernelFiles
  #descriptor = -1
  /** That it was not there, while that is remembered. */
  #missing: ReadFailure | undefined
  #reads: number

  constructor(files: KernelFiles, path: Buffer, reads: number) {
    this.#files = files
    this.path = path.toString()
    this.#path = Buffer.from(this.path).equals(path) ? this.path : path
    this.#reads = reads
  }

  /**
   * The text of the file, valid until the next read of any file of the same {@link KernelFiles}. A descriptor that went
   * stale is opened again at once; so is one that reads empty, as a file does whose mount was replaced, and every one
   * at its sixteenth read or the one that the options name. Never waits for a writer.
   */
  read(): Uint8Array | ReadFailure {
    if (++this.#reads % this.#files.readsPerOpen === 0) this.close()
    if (this.#missing !== undefined) return this.#missing
    if (this.#descriptor !== -1) {
      try {
        const bytes = this.#files.readAll(this.#descriptor, this.path)
        if (bytes.length > 0) return bytes
      } catch (error) {
        if (!STALE.has(codeOf(error))) return this.#failure(error)
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
   * Reads what the path leads to now, whatever was open: for a look that is rare, and that no sixteenth would follow
   * soon.
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
      if (codeOf(error) !== 'EBADF') throw error
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
   * A driver that refuses does so as long as it is there, and keeps its descriptor; any other failure may be over with
   * the next open.
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
