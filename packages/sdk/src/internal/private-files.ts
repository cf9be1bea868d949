import { closeSync, constants, lstatSync, openSync, readFileSync, rmSync, type Stats, statSync } from 'node:fs'
import { lstat, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { countOf } from './count-of.ts'

/** Mode of every file of Sonde: other users cannot read or lock it. */
export const PRIVATE_FILE_MODE = 0o600
/** Mode of every folder of such files. */
export const PRIVATE_FOLDER_MODE = 0o700

/** Rights of group and others. */
const OTHERS = 0o077
/** The mode of shared folders, such as the folder for temporary files. */
const STICKY = 0o1000
/** Locks are made private where they are taken: a descriptor that is closed here would drop this process's own. */
const LOCK = /lock$/
const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants

/** Makes an empty private file where none is. A file that other users could open, or made, is replaced. */
export function makePrivateFile(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found !== undefined && isPrivate(found)) return
  if (found !== undefined) rmSync(path)
  try {
    closeSync(openSync(path, 'wx', PRIVATE_FILE_MODE))
  } catch (error) {
    // Another process was faster.
    const made = lstatSync(path, { throwIfNoEntry: false })
    if (made === undefined || !isPrivate(made)) throw error
  }
}

/** Whether a file belongs to this user or root, has no other name, and is open to nobody else. */
function isPrivate(found: Stats): boolean {
  return found.isFile() && found.nlink === 1 && isTrusted(found.uid) && (found.mode & OTHERS) === 0
}

function isTrusted(uid: number): boolean {
  return uid === 0 || uid === process.geteuid?.()
}

/**
 * Whether a process of this user or of root holds a lock on a file that other users can open. Locks of other users do
 * not count.
 */
export function isHeldByUs(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined || isPrivate(found)) return false
  // `1: POSIX  ADVISORY  WRITE 4711 fd:01:123456 0 EOF`: process, device and inode.
  const line = new RegExp(`^\\d+: \\w+ +\\w+ +\\w+ +(\\d+) [0-9a-f]+:[0-9a-f]+:${found.ino} `, 'gm')
  try {
    const holders = [...readFileSync('/proc/locks', 'latin1').matchAll(line)]
    return holders.some(([, pid]) => isTrusted(statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid ?? -1))
  } catch {
    // No procfs here: it may be.
    return true
  }
}

/**
 * Takes the rights of other users from a folder of Sonde's, once: from the folder, and from everything in it that
 * belongs to this user. A folder in which other programs or users keep things stays as it is, but for what is Sonde's
 * in it. No link is followed.
 *
 * @param isOwnName Whether Sonde makes something of that name in the folder.
 * @returns What was done, as a sentence; empty if there was nothing to do, or nothing could be done.
 */
export async function tightenFolder(folder: string, isOwnName: (name: string) => boolean): Promise<string> {
  try {
    const found = await lstat(folder)
    const names = await readdir(folder)
    const own = names.filter(isOwnName)
    const isShared = (found.mode & STICKY) !== 0 || own.length < names.length || (await hasForeign(folder, own))
    if (!isShared && (found.mode & OTHERS) === 0) return ''
    let count = isShared ? 0 : await tighten(folder)
    for (const name of own) count += await tightenAll(join(folder, name))
    return count === 0
      ? ''
      : `other users had rights in ${folder}; they were taken from ${countOf(count, 'entry', 'entries')}`
  } catch {
    // The caller that uses the folder reports its fault.
    return ''
  }
}

async function hasForeign(folder: string, names: readonly string[]): Promise<boolean> {
  for (const name of names) if ((await lstat(join(folder, name))).uid !== process.geteuid?.()) return true
  return false
}

async function tightenAll(path: string): Promise<number> {
  const found = await lstat(path)
  let count = LOCK.test(path) || (found.mode & OTHERS) === 0 ? 0 : await tighten(path)
  if (!found.isDirectory()) return count
  for (const name of await readdir(path)) count += await tightenAll(join(path, name))
  return count
}

/** Tightens the opened file, even if its name changes meanwhile. Returns the number of changed entries. */
async function tighten(path: string): Promise<number> {
  const found = await lstat(path)
  if (!found.isFile() && !found.isDirectory()) return 0
  const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const stats = await handle.stat()
    const isFile = stats.isFile() && stats.nlink === 1
    if (stats.uid !== process.geteuid?.() || !(isFile || stats.isDirectory())) return 0
    await handle.chmod(stats.mode & 0o700)
    return 1
  } finally {
    await handle.close()
  }
}
