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
  /** Whether it is this one. */
  readonly isOwn: boolean
  /** Whether it is of the same user, or of root: what it wants is heeded. */
  readonly isTrusted: boolean
  /** Whether it asked whoever had them before to let go. */
  readonly isAsking: boolean
}

/** Like the folder for temporary files: everybody may add a note, and nobody take that of another. */
const FOLDER_MODE = 0o1777
const NOTE_MODE = 0o644
/** A longer file is no note. Unit: bytes. */
const NOTE_BYTES_MAX = 256
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/**
 * The note that a process of Sonde leaves for others while it holds the counters of a card: the library says that they
 * are held, and not by which process. A process that asks for the counters writes a note of its own in its place.
 * Everything works without notes; then errors name no process. A note holds numbers alone, which the kernel confirms.
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

  /** The process that holds the counters and still runs; undefined if no note names such a process. */
  read(): Holder | undefined {
    try {
      checkFolder()
      const { text, uid } = readShort(join(folder(), this.#name))
      const [pid = 0, start, sinceMs = 0, asking] = text.split(' ').map(Number)
      const ownUid = process.getuid?.() ?? 0
      if (start === undefined || Number(startTimeOf(pid)) !== start || !Number.isSafeInteger(sinceMs)) return undefined
      // Nobody speaks for a process of another user.
      if (uid !== 0 && statSync(`/proc/${pid}`).uid !== uid) return undefined
      return { pid, sinceMs, isOwn: pid === ownPid(), isTrusted: uid === 0 || uid === ownUid, isAsking: asking === 1 }
    } catch {
      // There is no note, or its process ended.
      return undefined
    }
  }

  /** Says that this process holds the counters. */
  hold(): void {
    this.#write(0)
  }

  /** Says that this process wants the counters, and asks their holder to let go. */
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
      // Others cannot be told, for example where the note of another user is in the place.
    }
  }
}

/** Name of a program as a person starts it: `sonde traceback`; `Sonde` if that cannot be seen. */
export function commandOf(pid: number): string {
  try {
    const [, ...words] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    const command = words[words.findIndex((word) => !word.startsWith('-')) + 1] ?? ''
    return /^[a-z]{1,20}$/.test(command) ? `sonde ${command}` : 'Sonde'
  } catch {
    return 'Sonde'
  }
}

/** Whether this is the child in which an agent runs a library. */
export function isChild(): boolean {
  return process.argv[1] === fileURLToPath(HOST_MODULE)
}

/** The process that a person knows. */
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

/** The owner of the folder could replace the notes of others. */
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
