import { closeSync, constants, fchmodSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commonNotesDir, noteName, noteText, readNotes } from '@sonde/sdk/internal'

/** The mode of the folder for temporary files: every user may add a note, and no user may remove a note of another. */
const FOLDER_MODE = 0o1777
const NOTE_MODE = 0o644
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants

/**
 * The note for clients of all users, in a folder that any user may have made. So no link there is followed, and every
 * access goes through the opened folder, which its owner cannot exchange meanwhile.
 */
export class CommonNote {
  readonly #folder: number
  readonly #path: string

  /** @throws what the file system says where it cannot be written. */
  constructor(socketsDir: string) {
    const folder = commonNotesDir()
    const isNew = make(folder)
    this.#folder = openSync(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    const base = `/proc/self/fd/${this.#folder}`
    this.#path = join(base, noteName(socketsDir))
    try {
      if (isNew) fchmodSync(this.#folder, FOLDER_MODE)
      for (const { path, isLiving, uid } of readNotes(`${base}/.`)) {
        if (!isLiving && uid === process.getuid?.()) rmSync(path, { force: true })
      }
      rmSync(this.#path, { force: true })
      write(this.#path, noteText(socketsDir))
    } catch (error) {
      closeSync(this.#folder)
      throw error
    }
  }

  remove(): void {
    try {
      rmSync(this.#path, { force: true })
    } finally {
      closeSync(this.#folder)
    }
  }
}

function make(folder: string): boolean {
  try {
    mkdirSync(folder)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  }
}

/** Writes a file that is not there yet, not through a link either. */
function write(path: string, text: string): void {
  const file = openSync(path, 'wx', NOTE_MODE)
  try {
    fchmodSync(file, NOTE_MODE)
    writeFileSync(file, text)
  } finally {
    closeSync(file)
  }
}
