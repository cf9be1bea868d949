import { createHash } from 'node:crypto'
import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { folderOf } from '../../internal/user-dirs.ts'

/** Where DOCA's telemetry service has its sockets. */
const VENDOR_DIR = '/opt/mellanox/doca/services/telemetry/ipc_sockets'

/** Name of the service's socket in its directory. */
export const SOCKET_NAME = 'sonde.sock'

/** A longer path does not fit what the kernel takes as the address of a socket. */
const SOCKET_PATH_BYTES_MAX = 107

/** What a directory of sockets must be, in words. */
export const SOCKETS_DIR_RULE = `an absolute path of at most ${SOCKET_PATH_BYTES_MAX - SOCKET_NAME.length - 1} bytes`

/** Whether a path can be a directory of sockets, as client and service both see it; it need not exist. */
export function canBeSocketsDir(path: string): boolean {
  return isAbsolute(path) && !path.includes('\0') && Buffer.byteLength(join(path, SOCKET_NAME)) <= SOCKET_PATH_BYTES_MAX
}

/**
 * Names of the notes that services leave in the usual directory where their own is another one: JSON `{ socketsDir, pid
 * }`.
 */
const NOTE_NAME = /^sonde-service-[0-9a-f]{16}\.json$/
/** A longer note is of something else. Unit: bytes. */
const NOTE_BYTES_MAX = 4096
/** Limit of files to read in a folder of notes: any user may fill the shared folder. */
const NOTE_COUNT_MAX = 256
/** Characters that may be shown: none that move the cursor of a terminal, or are invisible. */
const SHOWN_TEXT = /^\P{C}*$/u

/**
 * The note of a service about itself. Any user with access to the folder can write a note, so notes only add words to
 * messages.
 */
export interface ServiceNote {
  /** Path of the note. */
  readonly path: string
  readonly socketsDir: string
  readonly pid: number
  /** Owner of the note, as the kernel says. */
  readonly uid: number
  /** Whether the process that it names lives, and has its socket, as far as this user can see. */
  readonly isLiving: boolean
}

/** Name of the note of the service in a directory, which one service at a time has: each has a note of its own. */
export function noteName(socketsDir: string): string {
  return `sonde-service-${createHash('sha256').update(socketsDir).digest('hex').slice(0, 16)}.json`
}

/** The note of this process. */
export function noteText(socketsDir: string): string {
  return `${JSON.stringify({ socketsDir, pid: process.pid })}\n`
}

/**
 * The shared folder of notes for clients of all users, in the folder for temporary files. Any user may have made it.
 */
export function commonNotesDir(): string {
  return join(tmpdir(), 'sonde-services')
}

/** All valid notes in a folder. */
export function readNotes(folder: string): ServiceNote[] {
  return namesIn(folder)
    .filter((name) => NOTE_NAME.test(name))
    .flatMap((name) => readNote(join(folder, name)) ?? [])
}

function readNote(path: string): ServiceNote | undefined {
  try {
    const { text, uid } = readShort(path)
    const { socketsDir, pid } = JSON.parse(text) as { readonly socketsDir?: unknown; readonly pid?: unknown }
    if (typeof socketsDir !== 'string' || !canBeSocketsDir(socketsDir) || !SHOWN_TEXT.test(socketsDir)) return undefined
    if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid < 1) return undefined
    return { path, socketsDir, pid, uid, isLiving: isProcess(pid) && mayBeThere(join(socketsDir, SOCKET_NAME)) }
  } catch {
    // Gone meanwhile, or no note.
    return undefined
  }
}

/** The text of a short file and its owner; no link is followed, and nobody is waited for. */
function readShort(path: string): { readonly text: string; readonly uid: number } {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const found = fstatSync(file)
    if (!found.isFile() || found.size > NOTE_BYTES_MAX) return { text: '', uid: found.uid }
    const bytes = Buffer.alloc(NOTE_BYTES_MAX)
    return { text: bytes.toString('utf8', 0, readSync(file, bytes)), uid: found.uid }
  } finally {
    closeSync(file)
  }
}

/** Whether a file is there, or in a folder into which this user may not look. */
function mayBeThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    // Not ours to look at: another user's folder is not.
    return true
  }
}

function isProcess(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Another user's may not be signalled, and is there.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function namesIn(directory: string): string[] {
  const names: string[] = []
  try {
    if (!lstatSync(directory).isDirectory()) return []
    const entries = opendirSync(directory)
    try {
      for (
        let entry = entries.readSync();
        entry !== null && names.length < NOTE_COUNT_MAX;
        entry = entries.readSync()
      ) {
        names.push(entry.name)
      }
    } finally {
      entries.closeSync()
    }
  } catch {
    // Not there, or not ours to look at: then nobody told us anything.
  }
  return names.sort()
}

/**
 * The usual directory of sockets: the vendor's where it exists and is writable, else `$XDG_RUNTIME_DIR/sonde`, else
 * `sonde-<uid>` in the directory for temporary files. Client and service find each other because both look here; it
 * need not exist.
 */
export function usualSocketsDir(environment: NodeJS.ProcessEnv = process.env): string {
  if (isWritable(VENDOR_DIR)) return VENDOR_DIR
  const runtimeDir = folderOf(environment.XDG_RUNTIME_DIR)
  return runtimeDir !== undefined ? join(runtimeDir, 'sonde') : join(tmpdir(), `sonde-${process.getuid?.() ?? 0}`)
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK | constants.X_OK)
    return true
  } catch {
    // Not there, or not ours: the usual case.
    return false
  }
}
