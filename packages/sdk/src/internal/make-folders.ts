import { accessSync, constants, lstatSync, mkdirSync, statfsSync, statSync } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { PRIVATE_FOLDER_MODE } from './private-files.ts'

/** Attempts for a folder: another process that removes empty folders may remove its parent in between. */
const ATTEMPTS = 3

/**
 * File systems of the kernel in which nobody keeps files, by their numbers: root is permitted to write there, and can
 * make nothing.
 */
const KERNEL_FILE_SYSTEMS = new Map([
  [0x9fa0, 'procfs'],
  [0x62656572, 'sysfs'],
  [0x1cd1, 'devpts'],
  [0x64626720, 'debugfs'],
  [0x74726163, 'tracefs'],
  [0x73636673, 'securityfs'],
  [0x27e0eb, 'cgroup'],
  [0x63677270, 'cgroup2'],
])

/**
 * Makes a private folder and its missing parents, and returns the first new folder; undefined if all existed. `mkdir`
 * with `recursive` never returns on a file system that answers "not found", such as `/proc`.
 *
 * @throws the error of the file system for the first folder that cannot be made.
 */
export async function makeFolders(folder: string, attempts = ATTEMPTS): Promise<string | undefined> {
  if (await isFolder(folder)) return undefined
  const above = dirname(folder)
  const first = above === folder ? undefined : await makeFolders(above)
  try {
    await mkdir(folder, PRIVATE_FOLDER_MODE)
    return first ?? folder
  } catch (error) {
    // Another process may have made it meanwhile.
    if (await isFolder(folder)) return first
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempts <= 1) throw error
    return (await makeFolders(folder, attempts - 1)) ?? first
  }
}

/**
 * {@link makeFolders} for callers that cannot wait.
 *
 * @param mode Of the folders that are made. Default: private ones.
 */
export function makeFoldersNow(folder: string, mode = PRIVATE_FOLDER_MODE): void {
  if (isFolderNow(folder)) return
  const above = dirname(folder)
  if (above !== folder) makeFoldersNow(above, mode)
  try {
    mkdirSync(folder, mode)
  } catch (error) {
    if (!isFolderNow(folder)) throw error
  }
}

/**
 * Checks, without a change, that files can be made in a folder, or that the folder can be made. False if the folder
 * does not exist yet.
 *
 * @throws the error of the file system for the folder, or for its nearest existing parent.
 */
export function checkFoldersNow(folder: string): boolean {
  const isThere = lstatSync(folder, { throwIfNoEntry: false }) !== undefined
  const above = dirname(folder)
  if (!isThere && above !== folder) {
    checkFoldersNow(above)
    return false
  }
  // The dot makes the check fail if the path is no folder.
  accessSync(above === folder ? folder : `${folder}/.`, constants.W_OK | constants.X_OK)
  const kernels = KERNEL_FILE_SYSTEMS.get(statfsSync(folder).type)
  if (kernels !== undefined) throw new Error(`${folder} is ${kernels} of the kernel, where nothing can be kept`)
  return true
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch {
    // An attempt to make the folder reports the reason.
    return false
  }
}

function isFolderNow(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    // See isFolder.
    return false
  }
}
