import { sondeCommand } from '@sonde/sdk/internal'
import type { RuleBook } from '../../rules/rule.ts'
import { readRulesText, rulesFault } from './rules-text.ts'

/** How often the file is checked for changes. Unit: milliseconds. */
const LOOK_MS = 1000
/** Most warnings that are logged for one text. A file that changes every second would fill the log. */
const WARNINGS_MAX = 8

/** Reads the text of a file of rules. Throws its faults. */
export type ReadText = (text: string) => Awaitable<{ readonly book: RuleBook; readonly warnings: readonly string[] }>

type Awaitable<T> = T | Promise<T>

/** Options of a {@link RulesFile}. */
export interface RulesFileOptions {
  readonly path: string
  readonly read: ReadText
  /** Starts to watch a book. Rejects if a part of it cannot be watched; the rest is in effect. */
  readonly onBook: (book: RuleBook) => Promise<void>
  readonly log: {
    info(facts: object, message: string): void
    warn(facts: object, message: string): void
  }
}

/** The file of rules, read again after each change. An invalid file leaves the previous rules in effect. */
export class RulesFile {
  /** The rules in effect; undefined before the first valid file. */
  book: RuleBook | undefined
  /** Why the current file is not in use; undefined if it is in use. */
  fault: string | undefined
  /** When the rules in effect were read; 0 before the first. Unit: milliseconds since the Unix epoch. */
  takenMs = 0
  /** Number of books that came into effect. */
  takenCount = 0
  readonly #options: RulesFileOptions
  #timer: NodeJS.Timeout | undefined
  #opening: Promise<void> | undefined
  #isLooking = false
  /** State of the file when it was last read. */
  #seen = ''

  constructor(options: RulesFileOptions) {
    this.#options = options
  }

  /** Path of the file. */
  get path(): string {
    return this.#options.path
  }

  /** Starts to check the file. */
  start(): void {
    this.#opening ??= this.look()
    this.#timer ??= setInterval(() => void this.look(), LOOK_MS).unref()
  }

  /** Resolves when the file was read for the first time, if it was started. */
  async opened(): Promise<void> {
    await this.#opening
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Reads the file if it changed. Never rejects. */
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

  /** Its text; undefined if it is unchanged. */
  #changed(): Promise<string | undefined> {
    return readRulesText(this.#options.path, (state) => {
      const isAsBefore = state === this.#seen
      this.#seen = state
      return isAsBefore
    })
  }

  async #take(text: string): Promise<void> {
    const { path, read, onBook, log } = this.#options
    const { book, warnings } = await read(text)
    this.book = book
    this.fault = undefined
    this.takenMs = Date.now()
    this.takenCount++
    this.#warn(warnings)
    await onBook(book)
    log.info({ path, rules: book.rules.length, signals: book.signals.length }, 'rules of traceback are in effect')
  }

  #warn(warnings: readonly string[]): void {
    const { path, log } = this.#options
    for (const warning of warnings.slice(0, WARNINGS_MAX)) log.warn({ path, warning }, 'rules of traceback')
    const more = warnings.length - WARNINGS_MAX
    if (more > 0) log.warn({ path, more }, `rules of traceback have more warnings; ${sondeCommand()} check lists all`)
  }

  #refuse(error: unknown): void {
    const { path, log } = this.#options
    const fault = rulesFault(path, error)
    if (fault === this.fault) return
    this.fault = fault
    // A file that returns unchanged is read again.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') this.#seen = ''
    const left = this.book === undefined ? 'no rule watches' : 'the previous rules stay in effect'
    log.warn({ path, fault }, `the rules of traceback are invalid; ${left}`)
  }
}
