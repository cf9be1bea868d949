import { randomBytes, timingSafeEqual } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readSync, statfsSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { SondeError } from '@sonde/sdk'
import { type Attach, messageOf } from '@sonde/sdk/internal'

/** Folder of shared memory. */
const SHARED_MEMORY_DIR = '/dev/shm'
/** Files of other programs are left alone. */
const FILE_NAME = /^sonde-[A-Za-z0-9._-]{1,200}$/
const FILE_BYTES_MAX = 2 ** 30
/** Written by the group or by all. */
const FOREIGN_WRITE = 0o022
const TMPFS_MAGIC = 0x01021994
const NONCE_BYTES = 32

/**
 * The file with the pages of a client. The service only reads it; the client removes its name. The service does not
 * trust the client about its name, length or type. The client must prove that it can write the file, so that no client
 * makes the service, which may be root, read a file of another user.
 */
export class ClientSlotFile {
  readonly #descriptor: number
  readonly #slots: number
  readonly #slotBytes: number
  readonly #nonce = randomBytes(NONCE_BYTES)

  /**
   * @param socketsDir Folder of the service's socket, where files may lie too.
   * @throws SondeError `IPC_FILE` if the file is not one that is read; the sentence says why.
   */
  constructor({ file, slots, slotBytes }: Attach, socketsDir: string, pageBytes: number) {
    if (slotBytes > pageBytes || slots * slotBytes > FILE_BYTES_MAX) {
      throw refused(file, `has ${slots} slots of ${slotBytes} bytes`, `${FILE_BYTES_MAX} bytes, ${pageBytes} a slot`)
    }
    this.#descriptor = openShared(file, socketsDir)
    this.#slots = slots
    this.#slotBytes = slotBytes
    try {
      check(file, this.#descriptor, slots * slotBytes)
    } catch (error) {
      this.close()
      throw error
    }
  }

  /** What the client has to write to the beginning of the file. 64 hex digits. */
  get nonce(): string {
    return this.#nonce.toString('hex')
  }

  /** Whether the nonce is there, which only somebody who may write the file could have put there. */
  isProven(): boolean {
    const found = Buffer.alloc(NONCE_BYTES)
    return this.#read(0, found) && timingSafeEqual(found, this.#nonce)
  }

  /** Reads the first bytes of a slot into `target`. False if there is no such slot, or not as many bytes. */
  read(slot: number, target: Uint8Array): boolean {
    return slot < this.#slots && target.length <= this.#slotBytes && this.#read(slot * this.#slotBytes, target)
  }

  close(): void {
    closeSync(this.#descriptor)
  }

  #read(at: number, target: Uint8Array): boolean {
    try {
      return readSync(this.#descriptor, target, 0, target.length, at) === target.length
    } catch {
      // The client has truncated the file: the announced bytes do not exist.
      return false
    }
  }
}

function openShared(file: string, socketsDir: string): number {
  const directory = dirname(file)
  if (!FILE_NAME.test(basename(file)) || (directory !== SHARED_MEMORY_DIR && directory !== socketsDir)) {
    throw refused(file, 'is no file of a client', `sonde-… in ${SHARED_MEMORY_DIR} or ${socketsDir}`)
  }
  try {
    // Without waiting: a FIFO would.
    return openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (cause) {
    throw new SondeError('IPC_FILE', `${file} cannot be read by the service: ${messageOf(cause)}`, { cause })
  }
}

function check(file: string, descriptor: number, bytes: number): void {
  const stats = fstatSync(descriptor)
  if (!stats.isFile()) throw refused(file, 'is no regular file', 'a regular file')
  // Reading from a disk could take any time.
  const isInMemory = statfsSync(`/proc/self/fd/${descriptor}`).type === TMPFS_MAGIC
  if (!isInMemory) throw refused(file, 'is not in memory', 'a file on tmpfs')
  if (stats.nlink !== 1) throw refused(file, `has ${stats.nlink} names`, 'one')
  if ((stats.mode & FOREIGN_WRITE) !== 0) throw refused(file, 'can be written by others', 'mode 0600 or 0640')
  if (stats.size !== bytes) throw refused(file, `is ${stats.size} bytes long`, `${bytes}, as was announced`)
}

function refused(file: string, found: string, allowed: string): SondeError {
  return new SondeError('IPC_FILE', `${file.slice(0, 200)} ${found}; allowed: ${allowed}`)
}
