import { mkdirSync, statSync } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** How often a folder is tried: those who remove empty ones may take away the one above it meanwhile. */
const ATTEMPTS = 3

/**
 * Makes a folder and those above it, one after the other, and gives the first that it made; undefined where all were there. `mkdir` with `recursive` never returns where the file system
 * lets nothing be made and calls it "not found", as `/proc` does.
 *
 * @throws whatever the file system says of the first folder that cannot be made.
 */
export async function makeFolders(folder: string, attempts = ATTEMPTS): Promise<string | undefined> {
  if (await isFolder(folder)) return undefined
  const above = dirname(folder)
  const first = above === folder ? undefined : await makeFolders(above)
  try {
    await mkdir(folder)
    return first ?? folder
  } catch (error) {
    // Another process may have made it meanwhile.
    if (await isFolder(folder)) return first
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempts <= 1) throw error
    return (await makeFolders(folder, attempts - 1)) ?? first
  }
}

/** {@link makeFolders} for who cannot wait. */
export function makeFoldersNow(folder: string): void {
  if (isFolderNow(folder)) return
  const above = dirname(folder)
  if (above !== folder) makeFoldersNow(above)
  try {
    mkdirSync(folder)
  } catch (error) {
    if (!isFolderNow(folder)) throw error
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch {
    // Whatever hides it, making it will say so.
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
