import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { messageOf, SondeError } from '@sonde/sdk'
import {
  canBeSocketsDir,
  checkFoldersNow,
  type FileLock,
  lockFile,
  makeFoldersNow,
  noteName,
  noteText,
  readNotes,
  SOCKET_NAME,
  SOCKETS_DIR_RULE,
  usualSocketsDir,
} from '@sonde/sdk/internal'
import { CommonNote } from './common-note.ts'

const DIRECTORY_MODE = 0o770
const STICKY = 0o1000
/** Opens what cannot be opened otherwise, as a socket: Linux has it, and Node does not name it. */
const O_PATH = 0o10000000
const WORLD_WRITE = 0o002
const LOCK_NAME = 'sonde-service.lock'
/** How long whoever listens on a socket that was there before may take to answer. Unit: milliseconds. */
const CONNECT_LIMIT_MS = 1000

/** The folder of the socket, which one service at a time has. */
export class SocketsDir {
  /** Path of the folder. */
  readonly path: string
  /** Path of the socket. */
  readonly socket: string
  readonly #lock: FileLock
  /** The note in the usual folder; undefined where this is the usual one. */
  #note: string | undefined
  #commonNote: CommonNote | undefined

  private constructor(path: string, lock: FileLock) {
    this.path = path
    this.socket = join(path, SOCKET_NAME)
    this.#lock = lock
  }

  /**
   * Makes the folder where it is missing, sees that nobody else can meddle with it, and takes it for this process.
   *
   * @param configured Default: the usual one.
   * @throws SondeError `IPC_DIRECTORY` where it cannot be used, `IPC_TAKEN` where another service has it.
   */
  static async take(configured: string | undefined): Promise<SocketsDir> {
    const path = resolve(configured ?? usualSocketsDir())
    const directory = new SocketsDir(path, lockOf(path))
    try {
      await removeStale(directory.socket)
      return directory
    } catch (error) {
      directory.#lock.close()
      throw error
    }
  }

  /**
   * Tells clients that look in the usual folder where the service is. Called once it listens.
   *
   * @throws what the file system says where the usual folder cannot be written.
   */
  leaveNote(): void {
    const usual = usualSocketsDir()
    if (usual === this.path) return
    makeDirectory(usual)
    // Those of services that were killed.
    for (const { path, isLiving } of readNotes(usual)) if (!isLiving) rmSync(path, { force: true })
    const note = join(usual, noteName(this.path))
    // Not through a link that somebody put there.
    rmSync(note, { force: true })
    writeFileSync(note, noteText(this.path), { flag: 'wx', mode: 0o644 })
    this.#note = note
  }

  /**
   * Tells clients of other users, which look into no folder of this one, where the service is. Called once it listens.
   *
   * @throws what the file system says where the note cannot be written.
   */
  leaveCommonNote(): void {
    this.#commonNote = new CommonNote(this.path)
  }

  /**
   * Lets in whom the folder lets in: its group is that of the socket too, also where it was changed meanwhile. Called
   * once it listens, and now and then.
   *
   * @param inode Of the socket: what somebody of the group put in its place is left alone.
   * @throws SondeError `IPC_DIRECTORY` where this user may not give the socket that group.
   */
  admitGroup(inode: number): void {
    const { gid } = statSync(this.path)
    if (statSync(this.socket).gid === gid) return
    const socket = openSync(this.socket, O_PATH | constants.O_NOFOLLOW)
    try {
      const found = fstatSync(socket)
      if (found.isSocket() && found.ino === inode) chownSync(`/proc/self/fd/${socket}`, -1, gid)
    } catch (cause) {
      const what = `${this.socket} cannot be given group ${gid}, which ${this.path} has: ${messageOf(cause)}`
      const advice = "make the agent's user a member of that group, or give the folder mode 2770"
      throw new SondeError('IPC_DIRECTORY', `${what}; ${advice}`, { cause })
    } finally {
      closeSync(socket)
    }
  }

  /** Gives the folder back: socket and note are removed. */
  release(): void {
    rmSync(this.socket, { force: true })
    if (this.#note !== undefined) rmSync(this.#note, { force: true })
    this.#lock.close()
    this.#commonNote?.remove()
  }
}

/** What a service would find of its folder. */
export interface SocketsDirFinding {
  /** `present`: it can be taken. `absent`: it is made at the start. */
  readonly state: 'present' | 'absent' | 'denied' | 'taken'
  /** The path, or why not. */
  readonly found: string
}

/** Looks whether a service could take its folder, and changes nothing. `configured` as for `SocketsDir.take`. */
export async function checkSocketsDir(configured: string | undefined): Promise<SocketsDirFinding> {
  const path = resolve(configured ?? usualSocketsDir())
  try {
    if (!canBeSocketsDir(path)) throw unusable(path, `is not ${SOCKETS_DIR_RULE}`)
    const isThere = isOurs(path)
    checkFoldersNow(path)
    if (!isThere) return { state: 'absent', found: `${path} is made at the start` }
    // Who asks for the lock makes it where it is missing.
    if (existsSync(join(path, LOCK_NAME))) lockOf(path).close()
    await isStale(join(path, SOCKET_NAME))
    return { state: 'present', found: path }
  } catch (cause) {
    const { code, message } = faultOf(path, cause)
    return { state: code === 'IPC_TAKEN' ? 'taken' : 'denied', found: message }
  }
}

/** Makes a folder where it is missing, with parents; sees that it is ours alone. */
function makeDirectory(path: string): void {
  if (isOurs(path)) return
  makeFoldersNow(dirname(path))
  mkdirSync(path)
  chmodSync(path, DIRECTORY_MODE)
}

/**
 * Whether a folder is there that nobody else can meddle with; false where nothing is.
 *
 * @throws SondeError `IPC_DIRECTORY` where something else is.
 */
function isOurs(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return false
  if (!found.isDirectory()) throw unusable(path, 'is no folder')
  const uid = process.getuid?.() ?? 0
  if (found.uid !== uid && found.uid !== 0) throw unusable(path, `belongs to user ${found.uid}`)
  if ((found.mode & WORLD_WRITE) !== 0 && (found.mode & STICKY) === 0) {
    throw unusable(path, 'can be written by everybody, who could put another socket there')
  }
  return true
}

function lockOf(path: string): FileLock {
  try {
    makeDirectory(path)
    const lock = lockFile(join(path, LOCK_NAME))
    if (lock !== undefined) return lock
  } catch (cause) {
    throw faultOf(path, cause)
  }
  throw taken(path)
}

/** Removes a socket that a service left when it was killed. */
async function removeStale(socket: string): Promise<void> {
  if (await isStale(socket)) unlinkSync(socket)
}

/**
 * Whether a socket is there that nobody listens on; false where nothing is.
 *
 * @throws SondeError `IPC_DIRECTORY` where it is no socket, `IPC_TAKEN` where somebody listens.
 */
async function isStale(socket: string): Promise<boolean> {
  const found = lstatSync(socket, { throwIfNoEntry: false })
  if (found === undefined) return false
  if (!found.isSocket()) throw unusable(socket, 'is no socket')
  if (await answers(socket)) throw taken(dirname(socket))
  return true
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    const end = (isAnswer: boolean) => {
      socket.destroy()
      resolve(isAnswer)
    }
    // Who hangs is there.
    socket.setTimeout(CONNECT_LIMIT_MS, () => end(true))
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
  })
}

function faultOf(path: string, cause: unknown): SondeError {
  return cause instanceof SondeError ? cause : unusable(path, `cannot be used: ${messageOf(cause)}`)
}

function unusable(path: string, why: string): SondeError {
  return new SondeError('IPC_DIRECTORY', `${path} ${why}; give service.sockets_dir a folder of this user's own`)
}

function taken(path: string): SondeError {
  const advice = 'stop that one, give service.sockets_dir another folder, or switch it off with service.enabled'
  return new SondeError('IPC_TAKEN', `another service has ${path}; ${advice}`)
}
