import { lstatSync, type Stats } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { SondeError } from '../errors.ts'
import type { Disk } from './disk.ts'
import { codeOf } from './error-code.ts'

/**
 * Refuses a folder below the root that is reached through a link: whoever may write to the root could have files
 * written elsewhere. The root itself may be a link.
 *
 * @throws SondeError `FIL_LINK` names it.
 */
export async function refuseLinks(disk: Disk, root: string, folder: string): Promise<void> {
  for (const path of foldersBetween(root, folder)) {
    const found = await disk.lstat(path).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return undefined
      throw error
    })
    if (found === undefined) return
    refuse(path, found)
  }
}

/** {@link refuseLinks} for callers that cannot wait. */
export function refuseLinksNow(root: string, folder: string): void {
  for (const path of foldersBetween(root, folder)) {
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found === undefined) return
    refuse(path, found)
  }
}

/** Those below the root down to the folder itself, from above. */
function foldersBetween(root: string, folder: string): string[] {
  const names = relative(root, folder).split(sep)
  return names.map((_, index) => join(root, ...names.slice(0, index + 1)))
}

function refuse(path: string, found: Stats): void {
  if (!found.isSymbolicLink()) return
  throw new SondeError('FIL_LINK', `${path} is a link, and files are not written through links; allowed: a folder`)
}
