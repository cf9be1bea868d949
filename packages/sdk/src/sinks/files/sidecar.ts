import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Disk } from '../../disk/disk.ts'
import { codeOf } from '../../disk/error-code.ts'
import { refuseLinks } from '../../disk/links.ts'
import { syncFolders } from '../../disk/record-file.ts'
import { makeFolders } from '../../internal/make-folders.ts'
import { typeEntry } from '../../wire/dtb/encode.ts'
import type { FilesContext } from './context.ts'
import { SCHEMA_FOLDER, schemaFileName } from './paths.ts'
import type { TypeSet } from './type-sets.ts'

/**
 * Writes down the types of a schema beside the files, with their indexes, for tools that want them apart and for files
 * whose beginning is damaged: whole or not at all. Records do not need it, so a failure is counted and the next file
 * tries again.
 */
export async function writeSidecar(context: FilesContext, { fingerprint, types }: TypeSet): Promise<void> {
  if (context.sidecars.has(fingerprint)) return
  const { disk } = context
  const folder = join(context.config.dataRoot, SCHEMA_FOLDER)
  const path = join(folder, schemaFileName(fingerprint))
  const isSynced = context.config.durability !== 'none'
  try {
    await refuseLinks(disk, context.config.dataRoot, folder)
    if (!(await touch(disk, path))) {
      await disk.inTurn(() => makeFolders(folder))
      await writeWhole(
        disk,
        path,
        `${JSON.stringify({ fingerprint, types: types.map(typeEntry) }, undefined, 2)}\n`,
        isSynced,
      )
      if (isSynced) await syncFolders(disk, [folder])
    }
    context.sidecars.add(fingerprint)
  } catch (error) {
    context.fail(error)
  }
}

/** Marks a file as in use, for programs that remove old files. False if the file does not exist. */
async function touch(disk: Disk, path: string): Promise<boolean> {
  try {
    await disk.lutimes(path, new Date(), new Date())
    return true
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}

async function writeWhole(disk: Disk, path: string, text: string, isSynced: boolean): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`
  try {
    const handle = await disk.open(temporary, 'wx')
    try {
      await handle.writeText(text)
      if (isSynced) await handle.sync()
    } finally {
      await handle.close()
    }
    await disk.rename(temporary, path)
  } catch (error) {
    await disk.unlink(temporary).catch((gone: unknown) => {
      if (codeOf(gone) !== 'ENOENT') throw gone
    })
    throw error
  }
}
