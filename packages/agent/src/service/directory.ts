import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { connect, type Server } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { SondeError } from '@sonde/sdk'
import {
  canBeSocketsDir,
  checkFoldersNow,
  commonNotesDir,
  makeFoldersNow,
  messageOf,
  noteName,
  noteText,
  readNotes,
  SOCKET_NAME,
  SOCKETS_DIR_RULE,
  usualSocketsDir,
} from '@sonde/sdk/internal'
import { CommonNote } from './common-note.ts'

/** Members of the group may add files of pages, and take away none that is not theirs. */
const DIRECTORY_MODE = 0o1770
/** Of the folders above: the group has to get through. */
const ABOVE_MODE = 0o755
const SOCKET_MODE = 0o660
const STICKY = 0o1000
/** Opens what cannot be opened otherwise, as a socket: Linux has it, and Node does not name it. */
const O_PATH = 0o10000000
const GROUP_WRITE = 0o020
const WORLD_WRITE = 0o002
/** Limit of the wait for an answer on an existing socket. Unit: milliseconds. */
const CONNECT_LIMIT_MS = 1000

/**
 * The folder of the socket, with only the files that are shared with applications, so that users who can write there
 * cannot stop a service from starting. The socket itself identifies the service of the folder.
 */
export class SocketsDir {
  /** Path of the folder. */
  readonly path: string
  /** Path of the socket. */
  readonly socket: string
  /** The identity of this service's socket; undefined before it listens. */
  #own: Identity | undefined
  /** The note in the usual folder; undefined if this is the usual one. */
  #note: string | undefined
  #commonNote: CommonNote | undefined

  private constructor(path: string) {
    this.path = path
    this.socket = join(path, SOCKET_NAME)
  }

  /**
   * Makes the folder where it is missing, and sees that nobody else can meddle with it and no service listens there.
   *
   * @param configured Default: the usual one.
   * @throws SondeError `IPC_DIRECTORY` if it cannot be used, `IPC_TAKEN` if another service has it.
   */
  static async take(configured: string | undefined): Promise<SocketsDir> {
    const path = resolve(configured ?? usualSocketsDir())
    try {
      makeDirectory(path)
    } catch (cause) {
      throw faultOf(path, cause)
    }
    const directory = new SocketsDir(path)
    await checkFree(directory.socket)
    return directory
  }

  /**
   * Has a server listen in the folder. Of two services that begin at once the later one has the place: it takes it with
   * one call, and the other finds out by {@link hasSocket}.
   *
   * @throws SondeError `IPC_DIRECTORY` if it cannot.
   */
  async listen(server: Server): Promise<void> {
    // Node removes the name that it listened under, also where another service has it by then. It is no longer than the
    // name of the socket.
    const begun = join(this.path, `.s${randomBytes(4).toString('hex')}`)
    try {
      await new Promise<void>((listening, reject) => {
        server.once('error', reject)
        server.listen({ path: begun, exclusive: true }, listening)
      })
      chmodSync(begun, SOCKET_MODE)
      this.#own = identityOf(begun)
      // A folder is not replaced by a name. It is not removed either: its owner could lead that astray.
      if (isPlanted(this.socket) && lstatSync(this.socket).isDirectory()) renameSync(this.socket, `${begun}d`)
      renameSync(begun, this.socket)
    } catch (cause) {
      rmSync(begun, { force: true })
      // Without the name, which differs each time: a reason that stays the same is logged once.
      const reason = messageOf(cause).replaceAll(` ${begun}`, '')
      throw new SondeError('IPC_DIRECTORY', `${this.socket} cannot be made: ${reason}`, { cause })
    }
  }

  /** Whether the path of the socket still leads here: programs that clean temporary folders remove sockets too. */
  get hasSocket(): boolean {
    const found = identityOf(this.socket)
    return found !== undefined && found.ino === this.#own?.ino && found.mtimeNs === this.#own.mtimeNs
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
   * Gives the socket the group of its folder, even after a change: the folder decides which users may connect. A file
   * that a member of the group put in place of the socket is not changed. Called after the start, and now and then.
   *
   * @throws SondeError `IPC_DIRECTORY` if this user may not assign that group.
   */
  admitGroup(): void {
    keepSticky(this.path)
    const { gid } = statSync(this.path)
    if (statSync(this.socket).gid === gid) return
    const socket = openSync(this.socket, O_PATH | constants.O_NOFOLLOW)
    try {
      const found = fstatSync(socket, { bigint: true })
      if (found.isSocket() && found.ino === this.#own?.ino) chownSync(`/proc/self/fd/${socket}`, -1, gid)
    } catch (cause) {
      const what = `${this.socket} cannot be given group ${gid}, which ${this.path} has: ${messageOf(cause)}`
      const advice = "make the agent's user a member of that group, or give the folder mode 3770"
      throw new SondeError('IPC_DIRECTORY', `${what}; ${advice}`, { cause })
    } finally {
      closeSync(socket)
    }
  }

  /** Gives the folder back: socket and note are removed. */
  release(): void {
    if (this.hasSocket) rmSync(this.socket, { force: true })
    if (this.#note !== undefined) rmSync(this.#note, { force: true })
    this.#commonNote?.remove()
  }
}

/** The state of the folder before a start. */
export interface SocketsDirFinding {
  /** `present`: it can be used. `absent`: it is made at the start. */
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
    await checkFree(join(path, SOCKET_NAME))
    return { state: 'present', found: path }
  } catch (cause) {
    const { code, message } = faultOf(path, cause)
    return { state: code === 'IPC_TAKEN' ? 'taken' : 'denied', found: message }
  }
}

/** Makes a folder where it is missing, with parents; sees that it is ours alone. */
function makeDirectory(path: string): void {
  if (isOurs(path)) {
    keepSticky(path)
    return
  }
  makeFoldersNow(dirname(path), ABOVE_MODE)
  mkdirSync(path)
  chmodSync(path, DIRECTORY_MODE)
}

/** In a folder of ours, members of its group take away nothing that is not theirs. */
function keepSticky(path: string): void {
  const { uid, mode } = lstatSync(path)
  const isOpen = (mode & GROUP_WRITE) !== 0 && (mode & STICKY) === 0
  if (isOpen && uid === process.geteuid?.()) chmodSync(path, (mode & 0o7777) | STICKY)
}

/**
 * Whether a folder is there that nobody else can meddle with; false if nothing is.
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
    throw unusable(path, 'is writable by everybody, so any user could place another socket there')
  }
  return true
}

/** The identity of a file, independent of its name. */
interface Identity {
  readonly ino: bigint
  /** Inodes are used again. */
  readonly mtimeNs: bigint
}

function identityOf(path: string): Identity | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false })
}

/**
 * Checks that no service listens on a socket. A socket of a killed service is fine, and so are files of other users in
 * our folder.
 *
 * @throws SondeError `IPC_DIRECTORY` if the path is no socket, `IPC_TAKEN` if a service listens.
 */
async function checkFree(socket: string): Promise<void> {
  const found = lstatSync(socket, { throwIfNoEntry: false })
  if (found === undefined) return
  if (isPlanted(socket)) return
  if (!found.isSocket()) throw unusable(socket, 'is no socket')
  if (await answers(socket)) throw taken(dirname(socket))
}

/** Whether another user put something, whatever it is, into a folder of ours. */
function isPlanted(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  const us = process.geteuid?.()
  return found !== undefined && found.uid !== us && found.uid !== 0 && statSync(dirname(path)).uid === us
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
    // It is there too where its queue is full, or where it does not let this user in.
    socket.once('error', ({ code }: NodeJS.ErrnoException) => end(code !== 'ECONNREFUSED' && code !== 'ENOENT'))
  })
}

function faultOf(path: string, cause: unknown): SondeError {
  return cause instanceof SondeError ? cause : unusable(path, `cannot be used: ${messageOf(cause)}`)
}

function unusable(path: string, why: string): SondeError {
  return new SondeError('IPC_DIRECTORY', `${path} ${why}; give service.sockets_dir a folder of this user's own`)
}

/** The note is used only in words: any user who may add notes can name any process in them. */
function taken(path: string): SondeError {
  const note = readNotes(commonNotesDir()).find(({ socketsDir, isLiving }) => isLiving && socketsDir === path)
  const holder = note === undefined ? '' : ` (process ${note.pid})`
  const advice = 'stop that one, give service.sockets_dir another folder, or switch it off with service.enabled'
  return new SondeError('IPC_TAKEN', `another service${holder} has ${path}; ${advice}`)
}
