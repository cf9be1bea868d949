import { write } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

const writeSome = promisify(write)
/** Pause before the next attempt for a pipe that is full. Unit: milliseconds. */
const FULL_PIPE_MS = 20

/** The last write to each descriptor: the lines of two sinks do not mix. */
const turns = new Map<number, Promise<void>>()

/** The rest of a write that failed in the middle. */
interface Rest {
  readonly payload: Uint8Array
  readonly bytes: Uint8Array
}

/**
 * Writes to a descriptor, for a pipe that nobody reads as well: `process.stdout` would block the process, because Node
 * writes to pipes synchronously.
 */
export class Descriptor {
  readonly #fd: number
  #rest: Rest | undefined
  #isClosed = false

  constructor(fd: number) {
    this.#fd = fd
  }

  /**
   * Writes all bytes. After a failure, another call with the same payload continues where that failed. Calls must not
   * overlap.
   *
   * @throws the error of the system, such as `EPIPE`.
   */
  write(payload: Uint8Array): Promise<void> {
    const turn = (turns.get(this.#fd) ?? Promise.resolve()).then(() => this.#write(payload))
    turns.set(
      this.#fd,
      turn.catch(() => undefined),
    )
    return turn
  }

  /** Writes no more. The descriptor stays open: it is not ours. */
  close(): void {
    this.#isClosed = true
  }

  async #write(payload: Uint8Array): Promise<void> {
    let bytes = this.#rest?.payload === payload ? this.#rest.bytes : payload
    while (bytes.byteLength > 0 && !this.#isClosed) {
      this.#rest = { payload, bytes }
      bytes = bytes.subarray(await this.#some(bytes))
    }
    this.#rest = undefined
  }

  async #some(bytes: Uint8Array): Promise<number> {
    try {
      return (await writeSome(this.#fd, bytes, 0, bytes.byteLength, null)).bytesWritten
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      await delay(FULL_PIPE_MS)
      return 0
    }
  }
}
