import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
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

/** A note that a process of Sonde leaves on disk about a device. It holds only numbers that the kernel can confirm. */
export interface Note {
  readonly pid: number
  /** Start of the process, as the kernel counts it. */
  readonly start: number
  /** Further numbers of the note. */
  readonly numbers: readonly number[]
  /** User that wrote the note. */
  readonly uid: number
  /** Whether it belongs to the same user or to root. */
  readonly isTrusted: boolean
}

/** As in the folder for temporary files, every user may add a note, and none may remove the note of another user. */
const FOLDER_MODE = 0o1777
const NOTE_MODE = 0o644
/** A longer file is not a note. Unit: bytes. */
const NOTE_BYTES_MAX = 256
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/** Returns the names of notes that start with a prefix, in order; none if notes cannot be trusted. */
export function notesLike(prefix: string): string[] {
  try {
    checkFolder()
    return readdirSync(folder())
      .filter((name) => name.startsWith(prefix))
      .sort()
  } catch {
    return []
  }
}

/** Reads a note; undefined if there is none. */
export function readNote(name: string): Note | undefined {
  try {
    checkFolder()
    const { text, uid } = readShort(join(folder(), name))
    const [pid = 0, start, ...numbers] = text.split(' ').map(Number)
    if (start === undefined || ![pid, start, ...numbers].every(Number.isSafeInteger)) return undefined
    return { pid, start, numbers, uid, isTrusted: uid === 0 || uid === (process.getuid?.() ?? 0) }
  } catch {
    return undefined
  }
}

/** Returns whether the process that wrote a note still runs. A note of another user about this process is not true. */
export function isRunning({ pid, start, uid }: Note): boolean {
  try {
    return Number(startTimeOf(pid)) === start && (uid === 0 || statSync(`/proc/${pid}`).uid === uid)
  } catch {
    return false
  }
}

/** Writes a note of this process in place of an earlier note. The note of another user may be in the way. */
export function writeNote(name: string, numbers: readonly number[]): void {
  const pid = ownPid()
  try {
    makeFolder()
    checkFolder()
    const next = join(folder(), `${name}-${pid}`)
    rmSync(next, { force: true })
    const text = [pid, startTimeOf(pid), ...numbers].join(' ')
    writeFileSync(next, `${text}\n`, { flag: 'wx', mode: NOTE_MODE })
    renameSync(next, join(folder(), name))
  } catch {
    // Then other processes are not informed.
  }
}

/** Removes a note. */
export function removeNote(name: string): void {
  rmSync(join(folder(), name), { force: true })
}

/** Whether this process is the child in which an agent runs a library. */
export function isChild(): boolean {
  return process.argv[1] === fileURLToPath(HOST_MODULE)
}

/** Returns the process that a person knows: the agent, not its child. */
export function ownPid(): number {
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
