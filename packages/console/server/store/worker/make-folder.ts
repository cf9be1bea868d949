import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Parents that are made at most. */
const DEPTH_LIMIT = 64

/**
 * Makes a folder and those above it, one after the other. `mkdirSync` with `recursive` never returns where the file system lets nothing be made and calls it
 * "not found", as `/proc` does.
 *
 * @throws whatever the file system says of the first folder that cannot be made.
 */
export function makeFolder(folder: string): void {
  const missing: string[] = []
  for (let at = folder; !isFolder(at) && missing.length < DEPTH_LIMIT && at !== dirname(at); at = dirname(at)) {
    missing.push(at)
  }
  for (const one of missing.reverse()) {
    // Another process may have made it meanwhile.
    if (!isFolder(one)) mkdirSync(one)
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    // Whatever hides it, making it will say so.
    return false
  }
}
