import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { SondeError } from '../errors.ts'

/** Options of {@link FollowedFile}. */
export interface FollowedFileOptions<T> {
  readonly path: string
  /** The text of the file. @throws SondeError if there is none to be had. */
  readonly read: () => Promise<string>
  /** What the text means. @throws SondeError if it means nothing. */
  readonly parse: (text: string) => T
  /** Told once of each version that cannot be used. */
  readonly onFault: (fault: SondeError) => void
  /** Whether a file that is not there is a fault. */
  readonly isNeeded: boolean
  /** What was read before. Default: nothing. */
  readonly before?: { readonly text: string; readonly value: T }
}

/** The kernel's clock of files may not have ticked between two versions that are younger. Unit: milliseconds. */
const YOUNG_MS = 100
const ABSENT = new Set(['ENOENT', 'ENOTDIR'])

/**
 * A file that counts as it is now: looked at when somebody asks, and read again where it changed. One that cannot be
 * used goes on with its last good version.
 */
export class FollowedFile<T> {
  /**
   * The last version that could be used; undefined if there was none. The same object as long as the file says the
   * same.
   */
  value: T | undefined
  /** Why the file cannot be used as it is. */
  fault: SondeError | undefined
  readonly #options: FollowedFileOptions<T>
  /** Tells versions of the file apart without reading it; empty if it is too young for that. */
  #version = ''
  /** Tells contents apart. */
  #digest = ''

  constructor(options: FollowedFileOptions<T>) {
    this.#options = options
    if (options.before === undefined) return
    this.value = options.before.value
    this.#digest = digestOf(options.before.text)
  }

  /** Brings `value` and `fault` up to date. False if the file is not there, and need not be. */
  async look(): Promise<boolean> {
    const { path, isNeeded } = this.#options
    const version = await versionOf(path)
    if (ABSENT.has(version) && !isNeeded) return false
    if (version === '' || version !== this.#version) this.#take(version, await this.#read())
    return true
  }

  async #read(): Promise<string | SondeError> {
    try {
      return await this.#options.read()
    } catch (error) {
      if (error instanceof SondeError) return error
      throw error
    }
  }

  #take(version: string, read: string | SondeError): void {
    this.#version = version
    const digest = digestOf(read instanceof SondeError ? read.message : read)
    // The same once more, or another request has read it meanwhile.
    if (digest === this.#digest) return
    this.#digest = digest
    this.fault = undefined
    try {
      if (read instanceof SondeError) throw read
      this.value = this.#options.parse(read)
    } catch (error) {
      if (!(error instanceof SondeError)) throw error
      this.fault = error
      this.#options.onFault(error)
    }
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/**
 * A text that differs between versions of a file. Empty if the file is too young to compare; an error code if it cannot
 * be read.
 */
async function versionOf(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeMs, ctimeNs } = await stat(path, { bigint: true })
    return Math.abs(Date.now() - Number(ctimeMs)) < YOUNG_MS ? '' : `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown'
  }
}
