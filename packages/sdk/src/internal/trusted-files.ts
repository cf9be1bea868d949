import { accessSync, constants, lstatSync, readlinkSync, type Stats } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'

/** Variable with the ids of users whose files root loads beside its own: `1000,1001`. `--trust-owner` adds to it. */
export const TRUST_VARIABLE = 'SONDE_TRUST_OWNER'

const GROUP_WRITE = 0o020
const WORLD_WRITE = 0o002
/** In a sticky folder, users cannot remove or replace files of others. */
const STICKY = 0o1000
/** As the kernel follows. */
const LINKS_MAX = 40

/**
 * Why root must not load code or configuration from a path: the file, a folder above it or a link on the way belongs to
 * a user who is not trusted, or can be written by others. Only trusted users can change the path afterwards, so the
 * answer still holds when it is opened. Empty if there is no reason, for every other user, and where nothing is
 * there.
 */
export function codeFault(path: string): string {
  if (process.geteuid?.() !== 0) return ''
  const owners = new Set([0, ...givenOwners()])
  const left = namesOf(isAbsolute(path) ? path : `${process.cwd()}/${path}`)
  let at = '/'
  for (let links = 0, name = left.shift(); name !== undefined; name = left.shift()) {
    if (name === '..') {
      at = dirname(at)
      continue
    }
    const place = join(at, name)
    const found = lstatSync(place, { throwIfNoEntry: false })
    if (found === undefined) return ''
    const what = place === path ? 'it' : place
    if (!owners.has(found.uid)) return foreign(what, found.uid)
    if (found.isSymbolicLink()) {
      if (++links > LINKS_MAX) return `${what} leads through more than ${LINKS_MAX} links`
      const target = readlinkSync(place)
      left.unshift(...namesOf(target))
      if (isAbsolute(target)) at = '/'
      continue
    }
    if (isWritten(place, found)) return `${what} can be written by others; take that away with chmod go-w`
    at = place
  }
  return ''
}

/**
 * Why root must not load data from an open file: others can write it, or its owner is not root, not the user of `sudo`,
 * and not trusted. Empty if root may load it, and for every user except root.
 */
export function dataFault(found: Stats): string {
  const { uid, gid, mode } = found
  if (process.geteuid?.() !== 0) return ''
  const { SUDO_UID, SUDO_GID } = process.env
  const owners = new Set([0, ...idsIn(SUDO_UID), ...givenOwners()])
  if (!owners.has(uid)) return foreign('', uid).trimStart()
  // Of a device and a pipe, what is written goes elsewhere.
  if (!found.isFile()) return ''
  const isOfGroup = (mode & GROUP_WRITE) !== 0 && ![0, ...idsIn(SUDO_GID)].includes(gid)
  return isOfGroup || (mode & WORLD_WRITE) !== 0 ? 'can be written by others; take that away with chmod go-w' : ''
}

function foreign(path: string, uid: number): string {
  return `${path} belongs to user ${uid}, and root loads only its own files; chown it, or allow that owner with --trust-owner ${uid}`
}

/** Whether somebody else can write it. On a file system that is mounted read-only, as a ConfigMap is, nobody can. */
function isWritten(path: string, found: Stats): boolean {
  if ((found.mode & (GROUP_WRITE | WORLD_WRITE)) === 0 || !(found.isFile() || found.isDirectory())) return false
  if (found.isDirectory() && (found.mode & STICKY) !== 0) return false
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EROFS'
  }
}

function givenOwners(): number[] {
  return idsIn(process.env[TRUST_VARIABLE])
}

function idsIn(text = ''): number[] {
  return text.split(',').flatMap((id) => (/^\s*\d+\s*$/.test(id) ? Number(id) : []))
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.')
}
