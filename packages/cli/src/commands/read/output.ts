import type { Writable } from 'node:stream'
import { printable } from '@sonde/sdk/internal'

/** Size at which buffered text is written. Unit: characters. */
const GATHERED_LIMIT = 64 << 10

/**
 * Standard output, written no faster than it is read. The reader may leave early, as `head` does; the output then ends
 * without an error.
 */
export class Output {
  readonly #stream: Writable
  #gathered = ''
  #isClosed = false

  constructor(stream: Writable) {
    this.#stream = stream
    // The write has already reported this error.
    stream.on('error', () => {
      this.#isClosed = true
    })
  }

  /** Whether the reader has left. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Takes text, and waits if the buffer is full. */
  async write(text: string): Promise<void> {
    this.#gathered += text
    if (this.#gathered.length >= GATHERED_LIMIT) await this.flush()
  }

  /** Writes the buffer. Throws errors of the system, except that the reader has left. */
  async flush(): Promise<void> {
    const text = this.#gathered
    this.#gathered = ''
    if (text === '' || this.#isClosed) return
    const error = await new Promise<NodeJS.ErrnoException | null | undefined>((resolve) => {
      this.#stream.write(text, resolve)
    })
    if (error === null || error === undefined) return
    this.#isClosed = true
    if (error.code !== 'EPIPE') throw error
  }
}

/**
 * Prints one line to the user of the command. File names and contents are escaped, because they may hold any
 * characters.
 */
export function tell(line: string): void {
  process.stderr.write(`sonde: ${printable(line)}\n`)
}
