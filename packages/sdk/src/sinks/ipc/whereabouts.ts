import { existsSync, type Stats, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageOf, SondeError } from '../../errors.ts'
import { readNotes, SOCKET_NAME, usualSocketsDir } from './sockets-dir.ts'

const WORLD_WRITABLE = 0o002
const STICKY = 0o1000
/** Services that a message names at most. */
const NAMED_MAX = 4

/** Where services listen instead of in `socketsDir`, in words; empty where none is known. */
function elsewhere(socketsDir: string, usualDir: string): string {
  const others = readNotes(usualDir)
    .filter((note) => note.isLiving && note.socketsDir !== socketsDir)
    .map((note) => `process ${note.pid} listens in ${note.socketsDir}`)
  if (usualDir !== socketsDir && existsSync(join(usualDir, SOCKET_NAME))) others.unshift(`one listens in ${usualDir}`)
  const left = others.length - NAMED_MAX
  return left > 0 ? `${others.slice(0, NAMED_MAX).join(', ')}, and ${left} more elsewhere` : others.join(', ')
}

/**
 * What to say of a connection that could not be made: where nobody answers, the other directory in which a service is known to listen is named. Everything else speaks for itself.
 */
export function explainFailure(socketsDir: string, error: SondeError, usualDir = usualSocketsDir()): SondeError {
  const { code } = (error.cause ?? {}) as NodeJS.ErrnoException
  if (code !== 'ENOENT' && code !== 'ECONNREFUSED') return error
  const others = elsewhere(socketsDir, usualDir)
  const where =
    others === ''
      ? 'start one with sonde agent, or set socketsDir to the directory of one'
      : `${others}: set socketsDir of this client, or service.sockets_dir of that service, so that both are the same`
  return new SondeError('IPC_NOBODY', `no service answers in ${socketsDir}; ${where}`, { cause: error })
}

/**
 * A directory in which anybody could pose as the service is not used: one that everybody may write to, and one that another user made among the temporary files.
 *
 * @throws SondeError `IPC_DIRECTORY`, also where the directory cannot be looked at.
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

function lookAt(directory: string): Stats | undefined {
  try {
    return statSync(directory, { throwIfNoEntry: false })
  } catch (cause) {
    throw new SondeError('IPC_DIRECTORY', `${directory} cannot be used: ${messageOf(cause)}`, { cause })
  }
}
