import { existsSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { messageOf } from '../../errors.ts'
import { checkFoldersNow } from '../../internal/make-folders.ts'
import type { SinkFinding } from '../registry.ts'

/** Checks whether a folder can hold files, and its free space, without a change. `place` is the path of its keys. */
export function lookAtFiles(path: string, fileBytes: number, place: string): SinkFinding {
  try {
    const isThere = checkFoldersNow(path)
    const { bavail, bsize } = statfsSync(nearestOf(path))
    const free = `${((bavail * bsize) / 2 ** 30).toFixed(1)} GiB are free`
    if (bavail * bsize < fileBytes)
      return { state: 'denied', found: `ENOSPC: ${path}: ${free}, and a file takes ${place}.max_bytes, ${fileBytes}` }
    return isThere
      ? { state: 'present', found: `${path}, ${free}` }
      : { state: 'absent', found: `${path} is made with the first record, ${free}` }
  } catch (error) {
    return { state: 'denied', found: `${messageOf(error)}; give ${place}.data_root another folder` }
  }
}

/** The folder itself, or the nearest above it that there is. */
function nearestOf(path: string): string {
  return existsSync(path) ? path : nearestOf(dirname(path))
}
