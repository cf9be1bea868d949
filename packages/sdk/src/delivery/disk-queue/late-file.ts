import { closeSync, openSync, writevSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../../disk/error-code.ts'
import { makeFoldersNow } from '../../internal/make-folders.ts'
import { PRIVATE_FILE_MODE } from '../../internal/private-files.ts'

const NAME = /^\d{16}\.bin\.late$/

/**
 * Whether a file has the last records of a process that ended before their segment was there. The next process gives
 * it a place behind all segments.
 */
export function isLateName(name: string): boolean {
  return NAME.test(name)
}

/** Writes such a file synchronously. @throws the error of the system. */
export function writeLateFile(folder: string, blocks: readonly Uint8Array[], timeUs: number): void {
  makeFoldersNow(folder)
  const file = openNew(folder, timeUs)
  try {
    for (const block of blocks) writevSync(file, [block])
  } finally {
    closeSync(file)
  }
}

function openNew(folder: string, firstUs: number): number {
  for (let timeUs = firstUs; ; timeUs++) {
    try {
      return openSync(join(folder, `${String(timeUs).padStart(16, '0')}.bin.late`), 'wx', PRIVATE_FILE_MODE)
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    }
  }
}
