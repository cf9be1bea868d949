import { randomBytes } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { SondeError } from '@sonde/sdk'
import {
  type FileLock,
  FollowedFile,
  lockFile,
  makeFolders,
  messageOf,
  PRIVATE_FILE_MODE,
  readTextFile,
} from '@sonde/sdk/internal'

/** How long a change waits for the change of another process. Unit: milliseconds. */
const LOCK_LIMIT_MS = 10_000
const LOCK_LOOK_MS = 20

/** Options of {@link StateFile}. */
export interface StateFileOptions<T> {
  readonly path: string
  /** The content of a file that is missing. */
  readonly empty: T
  /** Checks the content of the file. @throws Error with the fault. */
  readonly parse: (value: unknown) => T
  /** Size of the file. Policy: a change that would exceed it is refused. Unit: bytes. */
  readonly limitBytes: number
  /** Told once of each version that cannot be used. */
  readonly onFault: (fault: SondeError) => void
}

/**
 * A JSON file that several processes read and change: the command, and servers that run. Readers see each change at
 * their next look. A change is written to another file, which then takes the name, so no reader sees half of it.
 */
export class StateFile<T> {
  readonly #options: StateFileOptions<T>
  readonly #followed: FollowedFile<T>

  constructor(options: StateFileOptions<T>) {
    const { path, onFault } = options
    this.#options = options
    this.#followed = new FollowedFile({
      ...{ path, onFault, isNeeded: false },
      read: () => this.#read(),
      parse: (text) => this.#parse(text),
    })
  }

  /** The content of the file. While it cannot be used, that of its last good version. */
  async value(): Promise<T> {
    const isThere = await this.#followed.look()
    return (isThere ? this.#followed.value : undefined) ?? this.#options.empty
  }

  /** Why the file cannot be used as it is; empty if it can. */
  get fault(): string {
    return this.#followed.fault?.message ?? ''
  }

  /**
   * Changes the content, alone among all processes.
   *
   * @param change Returns the next content; what it throws, this throws.
   * @throws SondeError `STA_BUSY` if another process does not end its change; `STA_READ`, `STA_DAMAGED`, `STA_LIMIT` or
   * `STA_WRITE`. The file is then as before.
   */
  async update(change: (before: T) => T): Promise<T> {
    const { path, empty } = this.#options
    await makeFolders(dirname(path)).catch((cause: unknown) => {
      throw this.#fault('STA_WRITE', `cannot be written: ${messageOf(cause)}`, cause)
    })
    const lock = await this.#lock()
    try {
      const text = await this.#read().catch((error: unknown) => {
        if (isMissing(error)) return undefined
        throw error
      })
      const after = change(text === undefined ? empty : this.#parse(text))
      await this.#write(`${JSON.stringify(after, null, 2)}\n`)
      return after
    } finally {
      lock.close()
    }
  }

  async #lock(): Promise<FileLock> {
    const { path } = this.#options
    const deadlineMs = performance.now() + LOCK_LIMIT_MS
    try {
      for (;;) {
        const lock = lockFile(`${path}.lock`)
        if (lock !== undefined) return lock
        if (performance.now() > deadlineMs) break
        await pause(LOCK_LOOK_MS)
      }
    } catch (cause) {
      throw this.#fault('STA_WRITE', `cannot be written: ${messageOf(cause)}`, cause)
    }
    throw this.#fault('STA_BUSY', 'is being changed by another process; try again')
  }

  #read(): Promise<string> {
    const { path, limitBytes } = this.#options
    return readTextFile({
      ...{ path, limitBytes, isLinkRefused: true },
      fault: (_kind, why, cause) => this.#fault('STA_READ', why, cause),
    })
  }

  #parse(text: string): T {
    try {
      return this.#options.parse(JSON.parse(text))
    } catch (cause) {
      // Words of the parser of JSON would quote the file.
      const why = cause instanceof SyntaxError ? 'it is no JSON' : messageOf(cause)
      throw this.#fault('STA_DAMAGED', `cannot be used: ${why}; correct it, or move it away to start anew`)
    }
  }

  async #write(text: string): Promise<void> {
    const { path, limitBytes } = this.#options
    if (Buffer.byteLength(text) > limitBytes)
      throw this.#fault('STA_LIMIT', `would be larger than ${limitBytes} bytes; remove entries first`)
    const draft = `${path}.${randomBytes(6).toString('hex')}.draft`
    try {
      const file = await open(draft, 'wx', PRIVATE_FILE_MODE)
      try {
        await file.writeFile(text)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(draft, path)
    } catch (cause) {
      await rm(draft, { force: true }).catch(() => undefined)
      throw this.#fault('STA_WRITE', `cannot be written: ${messageOf(cause)}`, cause)
    }
  }

  #fault(code: string, why: string, cause?: unknown): SondeError {
    return new SondeError(code, `${this.#options.path} ${why}`, { cause })
  }
}

function isMissing(error: unknown): boolean {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } }
  return cause?.code === 'ENOENT'
}
