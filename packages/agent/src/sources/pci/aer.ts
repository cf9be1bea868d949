import { type Integer64, SondeError } from '@sonde/sdk'
import { type KernelFile, ReadFailure } from '../kernel-file.ts'
import { type AerCounts, parseAer } from './aer-text.ts'

/** Severities, as the file names end. */
export const SEVERITIES = ['correctable', 'nonfatal', 'fatal'] as const

/** One of {@link SEVERITIES}. */
export type Severity = (typeof SEVERITIES)[number]

/** An error's count at a time. */
export interface AerRow {
  readonly time: bigint
  readonly error: string
  readonly count: Integer64
}

/** What one reading gives. */
export interface AerReading {
  readonly total: Integer64 | undefined
  readonly rows: readonly AerRow[]
  /** What is wrong with the text; the rest of it is taken. */
  readonly fault: SondeError | undefined
}

/** There are 32 bits of each kind. */
const ERROR_LIMIT = 64

/**
 * One `aer_dev_*` file. Its text is taken apart only when it changed, as most never do. An error has rows once it was counted, and begins with a row of the sweep before:
 * its first occurrence is a rise then, and not a beginning.
 */
export class AerFile {
  /** Errors that ever had a row. */
  readonly shown = new Set<string>()
  readonly #file: KernelFile
  #text: Buffer = Buffer.alloc(0)
  #counts: AerCounts = { errors: new Map(), total: undefined, malformed: '' }
  /** When the file was last read and sound; 0 before that. */
  #readAt = 0n

  constructor(file: KernelFile) {
    this.#file = file
  }

  read(time: bigint): AerReading | ReadFailure {
    const bytes = this.#file.read()
    if (bytes instanceof ReadFailure) return bytes
    const isChanged = bytes.length === 0 || !this.#text.equals(bytes)
    if (isChanged) {
      this.#text = Buffer.from(bytes)
      this.#counts = parseAer(bytes)
    }
    const rows: AerRow[] = []
    if (isChanged) this.#meet(rows)
    for (const error of this.shown) {
      const count = this.#counts.errors.get(error)
      if (count !== undefined) rows.push({ time, error, count })
    }
    const fault = this.#fault()
    if (fault === undefined) this.#readAt = time
    return { total: this.#counts.total, rows, fault }
  }

  /** Takes up the errors that were counted for the first time. */
  #meet(rows: AerRow[]): void {
    for (const [error, count] of this.#counts.errors) {
      if (Number(count) === 0 || this.shown.has(error) || this.shown.size === ERROR_LIMIT) continue
      this.shown.add(error)
      if (this.#readAt > 0n) rows.push({ time: this.#readAt, error, count: 0 })
    }
  }

  #fault(): SondeError | undefined {
    const { malformed, total } = this.#counts
    const { path } = this.#file
    if (malformed !== undefined)
      return new SondeError('SRC_READ', `${path} holds a line that is no count: ${JSON.stringify(malformed)}`)
    return total === undefined ? new SondeError('SRC_READ', `${path} holds no total`) : undefined
  }
}
