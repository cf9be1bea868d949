import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startTimeOf } from '@sonde/sdk/internal'
import { HOST_MODULE } from '../../places.ts'

/** A process of Sonde that holds the diagnostic counters of a card. */
export interface Holder {
  readonly pid: number
  /** Unit: milliseconds since the Unix epoch. */
  readonly sinceMs: number
  /** Whether it is this process. */
  readonly isOwn: boolean
  /** Whether it belongs to the same user or to root. Only then its request is followed. */
  readonly isTrusted: boolean
  /** Whether it asked the previous holder to release the counters. */
  readonly isAsking: boolean
}

/** As in the folder for temporary files, every user may add a note, and none may remove the note of another user. */
const FOLDER_MODE = 0o1777
const NOTE_MODE = 0o644
/** A longer file is not a note. Unit: bytes. */
const NOTE_BYTES_MAX = 256
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/**
 * The note that a process of Sonde leaves while it holds the counters of a card. The library reports that they are
 * held, but not by which process. A process that asks for the counters replaces the note with its own. Without notes
 * everything still works, but errors name no process. A note holds only numbers that the kernel can confirm.
 */
export class HolderNote {
  readonly #name: string

  /**
   * @param card Address of the card.
   * @param library Path of the library: a card of another library may be another card.
   */
  constructor(card: string, library: string) {
    this.#name = `diag-${createHash('sha256').update(`${card}\n${library}`).digest('hex').slice(0, 16)}`
  }

  /** Returns the running process that holds the counters; undefined if no note names such a process. */
  read(): Holder | undefined {
    try {
      checkFolder()
      const { text, uid } = readShort(join(folder(), this.#name))
      const [pid = 0, start, sinceMs = 0, asking] = text.split(' ').map(Number)
      const ownUid = process.getuid?.() ?? 0
      if (start === undefined || Number(startTimeOf(pid)) !== start || !Number.isSafeInteger(sinceMs)) return undefined
      // A note of another user about this process is not trusted.
      if (uid !== 0 && statSync(`/proc/${pid}`).uid !== uid) return undefined
      return { pid, sinceMs, isOwn: pid === ownPid(), isTrusted: uid === 0 || uid === ownUid, isAsking: asking === 1 }
    } catch {
      // There is no note, or its process has ended.
      return undefined
    }
  }

  /** Notes that this process holds the counters. */
  hold(): void {
    this.#write(0)
  }

  /** Notes that this process wants the counters. */
  ask(): void {
    this.#write(1)
  }

  remove(): void {
    if (this.read()?.isOwn === true) rmSync(join(folder(), this.#name), { force: true })
  }

  #write(asking: 0 | 1): void {
    const pid = ownPid()
    try {
      makeFolder()
      checkFolder()
      const next = join(folder(), `${this.#name}-${pid}`)
      rmSync(next, { force: true })
      writeFileSync(next, `${pid} ${startTimeOf(pid)} ${Date.now()} ${asking}\n`, { flag: 'wx', mode: NOTE_MODE })
      renameSync(next, join(folder(), this.#name))
    } catch {
      // The note of another user may be in the way. Then other processes are not informed.
    }
  }
}

/** Returns the name of a program as a person starts it, such as `sonde traceback`; `Sonde` if it cannot be read. */
export function commandOf(pid: number): string {
  try {
    const [, ...words] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    const command = words[words.findIndex((word) => !word.startsWith('-')) + 1] ?? ''
    return /^[a-z]{1,20}$/.test(command) ? `sonde ${command}` : 'Sonde'
  } catch {
    return 'Sonde'
  }
}

/** Whether this process is the child in which an agent runs a library. */
export function isChild(): boolean {
  return process.argv[1] === fileURLToPath(HOST_MODULE)
}

/** Returns the process that a person knows: the agent, not its child. */
function ownPid(): number {
  return isChild() ? process.ppid : process.pid
}

function folder(): string {
  return join(tmpdir(), 'sonde-devices')
}

function makeFolder(): void {
  let isNew = true
  try {
    mkdirSync(folder())
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    isNew = false
  }
  const descriptor = openSync(folder(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  try {
    if (isNew) fchmodSync(descriptor, FOLDER_MODE)
  } finally {
    closeSync(descriptor)
  }
}

/** The owner of the folder could replace the notes of others, so it must be this user or root. */
function checkFolder(): void {
  const { uid } = lstatSync(folder())
  if (uid !== 0 && uid !== process.getuid?.()) throw new Error(`${folder()} is of another user`)
}

function readShort(path: string): { readonly text: string; readonly uid: number } {
  const file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const found = fstatSync(file)
    if (!found.isFile() || found.size > NOTE_BYTES_MAX) return { text: '', uid: found.uid }
    const bytes = Buffer.alloc(NOTE_BYTES_MAX)
    return { text: bytes.toString('latin1', 0, readSync(file, bytes)), uid: found.uid }
  } finally {
    closeSync(file)
  }
}
