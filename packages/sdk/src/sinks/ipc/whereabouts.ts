import { existsSync, readFileSync, type Stats, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageOf, SondeError } from '../../errors.ts'
import { NOTE_NAME, SOCKET_NAME, usualSocketsDir } from './sockets-dir.ts'

const WORLD_WRITABLE = 0o002
const STICKY = 0o1000

/** Where a service listens instead of in `socketsDir`; undefined where none is known. */
function elsewhere(
  socketsDir: string,
  usualDir: string,
): { readonly directory: string; readonly who: string } | undefined {
  if (usualDir !== socketsDir && existsSync(join(usualDir, SOCKET_NAME))) return { directory: usualDir, who: 'one' }
  try {
    const note: unknown = JSON.parse(readFileSync(join(usualDir, NOTE_NAME), 'utf8').slice(0, 65_536))
    const { socketsDir: directory, pid } = note as { readonly socketsDir?: unknown; readonly pid?: unknown }
    if (typeof directory !== 'string' || directory === socketsDir || !existsSync(join(directory, SOCKET_NAME)))
      return undefined
    return { directory, who: `process ${Number(pid)}` }
  } catch {
    // No note, or none of a service: then nobody is known to be elsewhere.
    return undefined
  }
}

/**
 * What to say of a connection that could not be made: where nobody answers, the other directory in which a service is known to listen is named. Everything else speaks for itself.
 */
export function explainFailure(socketsDir: string, error: SondeError, usualDir = usualSocketsDir()): SondeError {
  const { code } = (error.cause ?? {}) as NodeJS.ErrnoException
  if (code !== 'ENOENT' && code !== 'ECONNREFUSED') return error
  const other = elsewhere(socketsDir, usualDir)
  const where =
    other === undefined
      ? 'start one with sonde agent, or set socketsDir to the directory of one'
      : `${other.who} listens in ${other.directory}: set socketsDir of this client, or service.sockets_dir of that service, so that both are the same`
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
