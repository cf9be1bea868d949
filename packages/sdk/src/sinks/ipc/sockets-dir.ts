import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'

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

/** Names of the notes that services leave in the usual directory where their own is another one: JSON `{ socketsDir, pid }`. */
const NOTE_NAME = /^sonde-service-[0-9a-f]{16}\.json$/
/** A longer note is of something else. Unit: bytes. */
const NOTE_BYTES_MAX = 65_536

/** What a service says of itself in the usual directory. */
export interface ServiceNote {
  /** Path of the note. */
  readonly path: string
  readonly socketsDir: string
  readonly pid: number
  /** Whether the process that left it lives, and has its socket. */
  readonly isLiving: boolean
}

/** Name of the note of the service in a directory, which one service at a time has: each has a note of its own. */
export function noteName(socketsDir: string): string {
  return `sonde-service-${createHash('sha256').update(socketsDir).digest('hex').slice(0, 16)}.json`
}

/** All notes in the usual directory; what is none is left out. */
export function readNotes(usualDir: string): ServiceNote[] {
  return namesIn(usualDir)
    .filter((name) => NOTE_NAME.test(name))
    .flatMap((name) => readNote(join(usualDir, name)) ?? [])
}

function readNote(path: string): ServiceNote | undefined {
  try {
    if (statSync(path).size > NOTE_BYTES_MAX) return undefined
    const note = JSON.parse(readFileSync(path, 'utf8')) as { readonly socketsDir?: unknown; readonly pid?: unknown }
    const { socketsDir, pid } = note
    if (typeof socketsDir !== 'string' || typeof pid !== 'number' || !Number.isInteger(pid) || pid < 1) return undefined
    return { path, socketsDir, pid, isLiving: isProcess(pid) && existsSync(join(socketsDir, SOCKET_NAME)) }
  } catch {
    // Gone meanwhile, or no note.
    return undefined
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
  try {
    return readdirSync(directory).sort()
  } catch {
    // Not there, or not ours to look at: then nobody told us anything.
    return []
  }
}

/**
 * The usual directory of sockets: the vendor's where it exists and is writable, else `$XDG_RUNTIME_DIR/sonde`, else `sonde-<uid>` in the directory for temporary
 * files. Client and service find each other because both look here; it need not exist.
 */
export function usualSocketsDir(environment: NodeJS.ProcessEnv = process.env): string {
  if (isWritable(VENDOR_DIR)) return VENDOR_DIR
  const { XDG_RUNTIME_DIR: runtimeDir } = environment
  return runtimeDir ? join(runtimeDir, 'sonde') : join(tmpdir(), `sonde-${process.getuid?.() ?? 0}`)
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
