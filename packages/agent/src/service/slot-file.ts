import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats, unlinkSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { messageOf, SondeError } from '@sonde/sdk'
import type { Attach } from '@sonde/sdk/internal'

/** Folder of shared memory. */
const SHARED_MEMORY_DIR = '/dev/shm'
/** Files of other programs are left alone. */
const FILE_NAME = /^sonde-[A-Za-z0-9._-]{1,200}$/
const FILE_BYTES_MAX = 2 ** 30
/** Written by the group or by all. */
const FOREIGN_WRITE = 0o022

/**
 * The file through which a client hands over its pages. It is taken away at once when it is open, so that nothing stays behind, however client and service end. Nothing that the
 * client says of it is believed: not its name, not its length, nor that it is a file at all.
 */
export class SlotFile {
  readonly #descriptor: number
  readonly #slots: number
  readonly #slotBytes: number

  /**
   * @param socketsDir Folder of the service's socket, where files may lie too.
   * @throws SondeError `IPC_FILE` where the file is not one that is read; the sentence says why.
   */
  constructor({ file, slots, slotBytes }: Attach, socketsDir: string, pageBytes: number) {
    if (slotBytes > pageBytes || slots * slotBytes > FILE_BYTES_MAX) {
      throw refused(file, `has ${slots} slots of ${slotBytes} bytes`, `${FILE_BYTES_MAX} bytes, ${pageBytes} a slot`)
    }
    this.#descriptor = openShared(file, socketsDir)
    this.#slots = slots
    this.#slotBytes = slotBytes
    try {
      takeAway(file, checked(file, fstatSync(this.#descriptor), slots * slotBytes))
    } catch (error) {
      this.close()
      throw error
    }
  }

  /** Reads the first bytes of a slot into `target`. False where there is no such slot, or not as many bytes. */
  read(slot: number, target: Uint8Array): boolean {
    if (slot >= this.#slots || target.length > this.#slotBytes) return false
    try {
      return readSync(this.#descriptor, target, 0, target.length, slot * this.#slotBytes) === target.length
    } catch {
      // The pages of the file are gone, as where the client cut it short: what it announced is not there.
      return false
    }
  }

  close(): void {
    closeSync(this.#descriptor)
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

function checked(file: string, stats: Stats, bytes: number): Stats {
  if (!stats.isFile()) throw refused(file, 'is no regular file', 'a regular file')
  if (stats.nlink !== 1) throw refused(file, `has ${stats.nlink} names`, 'one')
  if ((stats.mode & FOREIGN_WRITE) !== 0) throw refused(file, 'can be written by others', 'mode 0600 or 0640')
  if (stats.size !== bytes) throw refused(file, `is ${stats.size} bytes long`, `${bytes}, as was announced`)
  return stats
}

/** Takes the name away, which must still be that of the open file. */
function takeAway(file: string, opened: Stats): void {
  const named = lstatSync(file, { throwIfNoEntry: false })
  if (named?.ino !== opened.ino || named.dev !== opened.dev) throw refused(file, 'is another one now', 'the same file')
  try {
    unlinkSync(file)
  } catch (cause) {
    throw new SondeError('IPC_FILE', `${file} cannot be taken away by the service: ${messageOf(cause)}`, { cause })
  }
}

function refused(file: string, found: string, allowed: string): SondeError {
  return new SondeError('IPC_FILE', `${file.slice(0, 200)} ${found}; allowed: ${allowed}`)
}
