import fs from 'node:fs'
import { delimiter, join } from 'node:path'

/** Folders of programs for administrators, which are not in the PATH of every user. */
const ADMINISTRATOR_FOLDERS = ['/usr/sbin', '/sbin']

/** Returns the path of a program; a name without a slash is searched in PATH. Undefined if it may not be started. */
export function findProgram(name: string, path = process.env.PATH ?? ''): string | undefined {
  const folders = [...path.split(delimiter).filter(Boolean), ...ADMINISTRATOR_FOLDERS]
  return name.includes('/') ? [name].find(isProgram) : folders.map((folder) => join(folder, name)).find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    fs.accessSync(path, fs.constants.X_OK)
    return fs.statSync(path).isFile()
  } catch {
    return false
  }
}
