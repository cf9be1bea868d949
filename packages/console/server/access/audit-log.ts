import { appendFile, open, rename, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { SondeError } from '@sonde/sdk'
import type { AuditEntry } from '@sonde/sdk/api'
import { makeFolders, messageOf, PRIVATE_FILE_MODE } from '@sonde/sdk/internal'

const FILE_BYTES_MAX = 8 << 20
const LINES_ANSWERED_MAX = 1000
const VALUE_CHARACTERS_MAX = 2000

/**
 * The log of changes: a line of JSON each, in a file that the command and the servers append to. At its limit it takes
 * the name of the one before, which is lost.
 */
export class AuditLog {
  readonly #path: string
  readonly #onFault: (fault: SondeError) => void
  #writing: Promise<void> = Promise.resolve()

  /** @param folder The folder of access. */
  constructor(folder: string, onFault: (fault: SondeError) => void) {
    this.#path = join(folder, 'audit.jsonl')
    this.#onFault = onFault
  }

  /** Notes a change, in the order of calls. A fault of the disk is told, and prevents nothing. */
  note(entry: AuditEntry): Promise<void> {
    this.#writing = this.#writing
      .then(() => this.#append(entry))
      .catch((cause: unknown) => {
        this.#onFault(new SondeError('ACC_AUDIT', `${this.#path} cannot be written: ${messageOf(cause)}`, { cause }))
      })
    return this.#writing
  }

  /** The last entries, the newest first. */
  async last(count = LINES_ANSWERED_MAX): Promise<readonly AuditEntry[]> {
    await this.#writing
    const wanted = Math.min(count, LINES_ANSWERED_MAX)
    const newest = await linesOf(this.#path)
    const lines = newest.length >= wanted ? newest : [...(await linesOf(`${this.#path}.1`)), ...newest]
    return lines.slice(-wanted).reverse().flatMap(entryOf)
  }

  async #append(entry: AuditEntry): Promise<void> {
    await makeFolders(dirname(this.#path))
    const bytes = await stat(this.#path).then(
      ({ size }) => size,
      () => 0,
    )
    if (bytes >= FILE_BYTES_MAX) await rename(this.#path, `${this.#path}.1`)
    const cut = (text: string | undefined) => text?.slice(0, VALUE_CHARACTERS_MAX)
    const line = JSON.stringify({ ...entry, before: cut(entry.before), after: cut(entry.after) })
    await appendFile(this.#path, `${line}\n`, { mode: PRIVATE_FILE_MODE })
  }
}

async function linesOf(path: string): Promise<string[]> {
  try {
    const file = await open(path, 'r')
    try {
      return (await file.readFile('utf8')).split('\n').filter(Boolean)
    } finally {
      await file.close()
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw new SondeError('ACC_AUDIT', `${path} cannot be read: ${messageOf(error)}`, { cause: error })
  }
}

/** A line that a crash cut off is left out. */
function entryOf(line: string): AuditEntry[] {
  try {
    return [JSON.parse(line) as AuditEntry]
  } catch {
    return []
  }
}
