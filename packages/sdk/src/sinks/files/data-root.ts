import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Disk } from '../../disk/disk.ts'
import { messageOf, SondeError, warnOfFault } from '../../errors.ts'
import { makeFolders } from '../../internal/make-folders.ts'
import { PRIVATE_FILE_MODE, tightenFolder } from '../../internal/private-files.ts'
import { isFilesName } from './paths.ts'
import { filesDropReason } from './reasons.ts'

/** Limit of the wait for a hanging disk; the sink reports the fault. Unit: milliseconds. */
const LIMIT_MS = 5000

/**
 * Makes the folder below which files are written, takes the rights of other users from it, and tries whether a file can
 * be made there. A disk that is full, or hangs, is no reason to refuse: it may be well again when something is
 * written.
 *
 * @throws SondeError `FIL_ROOT` names the folder and what the system says.
 */
export async function checkDataRoot(dataRoot: string): Promise<void> {
  const disk = new Disk()
  try {
    await Promise.race([tryFile(disk, dataRoot), delay(LIMIT_MS, undefined, { ref: false })])
  } catch (cause) {
    if (filesDropReason(cause) === 'disk_full') return
    const advice = 'give dataRoot a folder that this user may write to'
    throw new SondeError('FIL_ROOT', `no file can be made in ${dataRoot}: ${messageOf(cause)}; ${advice}`, { cause })
  } finally {
    disk.leave()
  }
}

async function tryFile(disk: Disk, dataRoot: string): Promise<void> {
  const path = join(dataRoot, `.sonde-${randomUUID()}`)
  await disk.inTurn(() => makeFolders(dataRoot))
  const said = await disk.inTurn(() => tightenFolder(dataRoot, isFilesName))
  if (said !== '') warnOfFault(new SondeError('FIL_RIGHTS', said))
  await disk.inTurn(() => writeFile(path, '', { flag: 'wx', mode: PRIVATE_FILE_MODE }))
  await disk.inTurn(() => rm(path))
}
