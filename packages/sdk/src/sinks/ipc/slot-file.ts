import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  ftruncateSync,
  lstatSync,
  openSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { SondeError } from '../../errors.ts'
import { PRIVATE_FILE_MODE } from '../../internal/private-files.ts'
import { startTimeOf } from '../../internal/start-time.ts'

const TMPFS_MAGIC = 0x01021994
/** `sonde-<pid>-<start time of the process>-<random>`. */
const NAME = /^sonde-(\d+)-(\d+)-[0-9a-f]{16}$/
/** Between creation and `attached` pass milliseconds; a process in another container cannot be seen from here. */
const LEFTOVER_MS = 60_000

/** Files that have a name at the moment: none may be left when the process ends. */
const named = new Set<string>()

/**
 * A file on tmpfs that the service reads: shared memory without mapping. Slots are written by position; after the
 * message about a slot, the service sees all its bytes. The file has a name until the service has opened it.
 */
export class SlotFile {
  readonly path: string
  readonly slots: number
  readonly slotBytes: number
  readonly #descriptor: number
  /** Free slots; the last freed slot is used first. */
  readonly #free: number[]
  /** Slots that the service may read, in the order of their pages. */
  readonly #busy: { readonly sequence: number; readonly slot: number }[] = []
  #isClosed = false

  /** @throws SondeError `IPC_SHARED` if the directory is not on tmpfs; whatever the file system says. */
  constructor(directory: string, slots: number, slotBytes: number) {
    if (statfsSync(directory).type !== TMPFS_MAGIC) {
      throw new SondeError(
        'IPC_SHARED',
        `${directory} is not on tmpfs; pages go through the socket, unless /dev/shm or the folder of the socket is a tmpfs that both sides see`,
      )
    }
    sweepLeftovers(directory)
    this.slots = slots
    this.slotBytes = slotBytes
    this.path = join(directory, `sonde-${process.pid}-${startOf(process.pid)}-${randomBytes(8).toString('hex')}`)
    const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
    this.#descriptor = openSync(this.path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, PRIVATE_FILE_MODE)
    if (named.size === 0) process.on('exit', unlinkAll)
    named.add(this.path)
    this.#free = Array.from({ length: slots }, (_, slot) => slots - 1 - slot)
    try {
      ftruncateSync(this.#descriptor, slots * slotBytes)
    } catch (error) {
      this.close()
      throw error
    }
  }

  /**
   * Writes what the service asks for to the beginning, where no page lies yet.
   *
   * @throws Whatever the file system says.
   */
  prove(nonce: string): void {
    writeSync(this.#descriptor, Buffer.from(nonce, 'hex'), 0, nonce.length / 2, 0)
  }

  /** Whether no slot is free. */
  get isFull(): boolean {
    return this.#free.length === 0
  }

  /**
   * Puts the records of a page into a slot; undefined if none is free, or they do not fit.
   *
   * @throws Whatever the file system says, `ENOSPC` above all: tmpfs reserves nothing.
   */
  put(sequence: number, records: Uint8Array): number | undefined {
    if (records.length > this.slotBytes) return undefined
    const slot = this.#free.at(-1)
    if (slot === undefined) return undefined
    const written = writeSync(this.#descriptor, records, 0, records.length, slot * this.slotBytes)
    if (written < records.length)
      throw new SondeError('IPC_SHARED', `${this.path} took ${written} bytes of a page; is there memory left?`)
    this.#free.pop()
    this.#busy.push({ sequence, slot })
    return slot
  }

  /** Every page up to a sequence was read. */
  release(sequence: number): void {
    let released = 0
    for (const busy of this.#busy) {
      if (busy.sequence > sequence) break
      this.#free.push(busy.slot)
      released++
    }
    this.#busy.splice(0, released)
  }

  /** Takes the name away: the service has the file open, or never will. */
  unlink(): void {
    if (!named.delete(this.path)) return
    if (named.size === 0) process.off('exit', unlinkAll)
    // The service may have taken it already.
    rmSync(this.path, { force: true })
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.unlink()
    closeSync(this.#descriptor)
  }
}

/**
 * Removes the files of processes that were killed between creating one and its being attached. Files of other users
 * stay.
 */
function sweepLeftovers(directory: string): void {
  for (const name of readdirSync(directory)) {
    const [, pid, startTime] = NAME.exec(name) ?? []
    if (pid === undefined || startOf(Number(pid)) === startTime) continue
    const path = join(directory, name)
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found?.uid === process.getuid?.() && Date.now() - (found?.mtimeMs ?? 0) > LEFTOVER_MS)
      rmSync(path, { force: true })
  }
}

/** See {@link startTimeOf}; `0` if that is not known. */
function startOf(pid: number): string {
  return startTimeOf(pid) ?? '0'
}

function unlinkAll(): void {
  for (const path of named) rmSync(path, { force: true })
}
