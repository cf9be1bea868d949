import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { messageOf, SondeError } from '@sonde/sdk'
import type { RuleBook } from '../../rules/rule.ts'

/** How often it is looked whether the file changed. Unit: milliseconds. */
const LOOK_MS = 1000
/** A file of rules is larger in no case. Unit: bytes. */
const FILE_BYTES_MAX = 1 << 20

/** Reads the text of a file of rules. Throws what is wrong with it. */
export type ReadRules = (text: string) => { readonly book: RuleBook; readonly warnings: readonly string[] }

/** Options of a {@link RulesFile}. */
export interface RulesFileOptions {
  readonly path: string
  readonly read: ReadRules
  /** Has a book watched. Rejects where it cannot be in full: the rest of it is in effect. */
  readonly onBook: (book: RuleBook) => Promise<void>
  readonly log: {
    info(facts: object, message: string): void
    warn(facts: object, message: string): void
  }
}

/** The file of rules, read again whenever it changed. A file that does not hold leaves the rules before in effect. */
export class RulesFile {
  /** The rules in effect; undefined before the first file that holds. */
  book: RuleBook | undefined
  /** Why the file as it is now is not in use; undefined where it is. */
  fault: string | undefined
  readonly #options: RulesFileOptions
  #timer: NodeJS.Timeout | undefined
  #isLooking = false
  /** What the file was like when it was last read. */
  #seen = ''

  constructor(options: RulesFileOptions) {
    this.#options = options
  }

  /** Begins to look. */
  start(): void {
    void this.look()
    this.#timer ??= setInterval(() => void this.look(), LOOK_MS).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Reads the file where it changed. Never rejects. */
  async look(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      const text = await this.#changed()
      if (text !== undefined) await this.#take(text)
    } catch (error) {
      this.#refuse(error)
    } finally {
      this.#isLooking = false
    }
  }

  /** Its text; undefined where it is as it was. */
  async #changed(): Promise<string | undefined> {
    // A pipe without a writer would hold whoever opens it, and with it the end of the process.
    const handle = await open(this.#options.path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const stat = await handle.stat()
      const { mtimeMs, ctimeMs, size, ino } = stat
      const seen = `${mtimeMs} ${ctimeMs} ${size} ${ino}`
      if (seen === this.#seen) return undefined
      this.#seen = seen
      if (!stat.isFile()) throw new SondeError('TRB_RULES', `${this.#options.path} is not a file`)
      if (size > FILE_BYTES_MAX)
        throw new SondeError('TRB_RULES', `${this.#options.path} has ${size} bytes; allowed: ${FILE_BYTES_MAX}`)
      const bytes = new Uint8Array(FILE_BYTES_MAX)
      const { bytesRead } = await handle.read(bytes, 0, FILE_BYTES_MAX, 0)
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, bytesRead))
    } finally {
      await handle.close()
    }
  }

  async #take(text: string): Promise<void> {
    const { path, read, onBook, log } = this.#options
    const { book, warnings } = read(text)
    this.book = book
    this.fault = undefined
    for (const warning of warnings) log.warn({ path, warning }, 'rules of traceback')
    await onBook(book)
    log.info({ path, rules: book.rules.length, signals: book.signals.length }, 'rules of traceback are in effect')
  }

  #refuse(error: unknown): void {
    const { path: place } = this.#options
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    const fault = isMissing ? `${resolve(place)} is not there; make it, or take traceback.rules out` : messageOf(error)
    if (fault === this.fault) return
    this.fault = fault
    // A file that comes back as it was is read again.
    if (isMissing) this.#seen = ''
    const { path, log } = this.#options
    const left = this.book === undefined ? 'no rule watches' : 'the rules before stay in effect'
    log.warn({ path, fault }, `the rules of traceback do not hold; ${left}`)
  }
}
