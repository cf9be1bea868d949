import type { Writable } from 'node:stream'
import { printable } from '@sonde/sdk/internal'

/** What is gathered before it is written. Unit: characters. */
const GATHERED_LIMIT = 64 << 10

/**
 * Standard output, written no faster than it is read. Whoever reads it may leave early, as `head` does: then there is
 * nothing more to do.
 */
export class Output {
  readonly #stream: Writable
  #gathered = ''
  #isClosed = false

  constructor(stream: Writable) {
    this.#stream = stream
    // Nobody hears of the error that the write told already.
    stream.on('error', () => {
      this.#isClosed = true
    })
  }

  /** Whether nobody reads any more. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Takes text, and waits where a lot has gathered. */
  async write(text: string): Promise<void> {
    this.#gathered += text
    if (this.#gathered.length >= GATHERED_LIMIT) await this.flush()
  }

  /** Writes what has gathered. Throws what the system says, unless that is that nobody reads. */
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
 * Reports something to the person who runs the command, in one line: names of files and what they hold may be anything.
 */
export function tell(line: string): void {
  process.stderr.write(`sonde: ${printable(line)}\n`)
}
