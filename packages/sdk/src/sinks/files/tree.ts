import type { Dirent } from 'node:fs'
import { join } from 'node:path'
import type { Disk } from '../../disk/disk.ts'
import { codeOf } from '../../disk/error-code.ts'
import { parseFileName, pathName } from './paths.ts'

const YEAR = /^\d{4}$/
const DAY = /^\d{4}$/

/** Folders of days below the root, `<root>/<yyyy>/<mmdd>`, the oldest first. Links are not followed. */
export async function dayFolders(disk: Disk, root: string): Promise<string[]> {
  const days: string[] = []
  for (const year of (await foldersIn(disk, root)).filter((name) => YEAR.test(name))) {
    const folder = join(root, year)
    for (const day of (await foldersIn(disk, folder)).filter((name) => DAY.test(name))) days.push(join(folder, day))
  }
  return days
}

/** Names of the folders in a folder, sorted; none if it is not there. */
export async function foldersIn(disk: Disk, folder: string): Promise<string[]> {
  return (await entriesOf(disk, folder)).filter((entry) => entry.isDirectory()).map(({ name }) => name)
}

/** Names of the files in a folder that are named like ours, the oldest first. */
export async function recordFilesIn(
  disk: Disk,
  folder: string,
): Promise<{ name: string; tag: string; timeUs: number }[]> {
  const found = (await entriesOf(disk, folder)).flatMap((entry) => {
    const parsed = entry.isFile() ? parseFileName(entry.name) : undefined
    return parsed === undefined ? [] : [{ name: entry.name, ...parsed }]
  })
  return found.sort((a, b) => a.timeUs - b.timeUs)
}

/** Paths of the files of a source, the newest first, of so many days at most. */
export async function* filesOfSource(
  disk: Disk,
  root: string,
  { id, tag }: { readonly id: string; readonly tag: string },
  dayCount: number,
) {
  const prefix = pathName(tag)
  for (const day of (await dayFolders(disk, root)).reverse().slice(0, dayCount)) {
    const folder = join(day, pathName(id) || '%')
    const files = (await recordFilesIn(disk, folder)).filter((file) => file.tag === prefix)
    for (const { name } of files.reverse()) yield join(folder, name)
  }
}

async function entriesOf(disk: Disk, folder: string): Promise<Dirent[]> {
  try {
    const entries = await disk.entriesIn(folder)
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return []
    throw error
  }
}
