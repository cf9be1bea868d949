import { existsSync, type Stats, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { messageOf, SondeError } from '../../errors.ts'
import { shellWord } from '../../internal/shown-text.ts'
import { commonNotesDir, readNotes, type ServiceNote, SOCKET_NAME, usualSocketsDir } from './sockets-dir.ts'

const WORLD_WRITABLE = 0o002
const STICKY = 0o1000
/** Services that a message names at most. */
const NAMED_MAX = 4

/** Where services listen instead of in `socketsDir`, in words; empty if none is known. */
function elsewhere(socketsDir: string, usualDir: string): string {
  const notes = [...readNotes(usualDir), ...readNotes(commonNotesDir())].filter(
    (note) => note.isLiving && note.socketsDir !== socketsDir,
  )
  // One service may have left a note in both.
  const others = [...new Set(notes.map(inWords))]
  const isUsualNoted = notes.some((note) => note.socketsDir === usualDir)
  if (usualDir !== socketsDir && !isUsualNoted && existsSync(join(usualDir, SOCKET_NAME)))
    others.unshift(`one listens in ${usualDir}`)
  const left = others.length - NAMED_MAX
  return left > 0 ? `${others.slice(0, NAMED_MAX).join(', ')}, and ${left} more elsewhere` : others.join(', ')
}

/** Names the owner of a note of another user, because that user may have written anything. */
function inWords({ pid, uid, socketsDir }: ServiceNote): string {
  const whose = uid === process.getuid?.() ? '' : ` (as a note of user ${uid} says)`
  return `process ${pid} listens in ${socketsDir}${whose}`
}

/**
 * Words for a failed connection. If no service answers, names another directory in which a service listens. If this
 * user has no access, names the users with access. Empty for any other error.
 */
export function explainFailure(socketsDir: string, error: SondeError, usualDir = usualSocketsDir()): SondeError {
  const { code } = (error.cause ?? {}) as NodeJS.ErrnoException
  if (code === 'EACCES') return noAccess(socketsDir, error)
  if (code !== 'ENOENT' && code !== 'ECONNREFUSED') return error
  const others = elsewhere(socketsDir, usualDir)
  const usually = usualDir === socketsDir ? '' : `, which usually is ${usualDir}`
  const where =
    others === ''
      ? `start one with sonde agent, or set socketsDir to the directory of one${usually}`
      : `${others}: set socketsDir of this client, or service.sockets_dir of that service, so that both are the same`
  return new SondeError('IPC_NOBODY', `no service answers in ${socketsDir}; ${where}`, { cause: error })
}

/**
 * Refuses a directory in which another user could pose as the service: a directory that all users may write, or that
 * another user made among the temporary files.
 *
 * @throws SondeError `IPC_DIRECTORY` for such a directory, or if it cannot be read; `IPC_ACCESS` if this user has no
 * access.
 */
export function checkDirectory(socketsDir: string): void {
  const found = lookAt(socketsDir)
  if (found === undefined) return
  const isOpen = (found.mode & WORLD_WRITABLE) !== 0 && (found.mode & STICKY) === 0
  const isForeign = found.uid !== 0 && found.uid !== process.getuid?.() && socketsDir.startsWith(`${tmpdir()}/`)
  if (!isOpen && !isForeign) return
  throw new SondeError(
    'IPC_DIRECTORY',
    `${socketsDir} ${isOpen ? 'may be written by everybody' : `belongs to user ${found.uid}`}: anybody could pose as the service there; ${isOpen ? 'take that right away' : 'choose another directory'}`,
  )
}

/** The user of this client, the users with access to folder and socket, and how to give access. */
function noAccess(socketsDir: string, cause: unknown): SondeError {
  const { getuid, getgid, getgroups } = process
  const groups = new Set([getgid?.() ?? 0, ...(getgroups?.() ?? [])])
  const who = `user ${getuid?.() ?? 0} with group${groups.size === 1 ? '' : 's'} ${[...groups].join(', ')}`
  const found = new Set([rightsOf(socketsDir), rightsOf(join(socketsDir, SOCKET_NAME))])
  const folder = shellWord(socketsDir)
  const advice = `run client and service as one user, or give both a folder of a group that they share: chgrp GROUP ${folder}; chmod 1770 ${folder}`
  return new SondeError(
    'IPC_ACCESS',
    `this client, ${who}, may not use the service in ${socketsDir}: ${[...found].join(', ')}; ${advice}`,
    { cause },
  )
}

/** Owner, group and mode of a path, or of the folder above it that can still be looked at. */
function rightsOf(path: string): string {
  try {
    const { uid, gid, mode } = statSync(path)
    return `${path} has user ${uid}, group ${gid} and mode ${(mode & 0o7777).toString(8).padStart(4, '0')}`
  } catch (error) {
    return dirname(path) === path ? messageOf(error) : rightsOf(dirname(path))
  }
}

function lookAt(directory: string): Stats | undefined {
  try {
    return statSync(directory, { throwIfNoEntry: false })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EACCES') throw noAccess(directory, cause)
    throw new SondeError('IPC_DIRECTORY', `${directory} cannot be used: ${messageOf(cause)}`, { cause })
  }
}
