import type { Integer64 } from '@sonde/sdk/internal'
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
  /**
   * What is wrong with the text, the end of a sentence that starts with the path of the file; the rest of the text is
   * taken.
   */
  readonly fault: string | undefined
}

/** There are 32 bits of each kind. */
const ERROR_LIMIT = 64

/**
 * One `aer_dev_*` file. Its text is taken apart only when it changed, as most never do. An error has rows once it was
 * counted, and begins with a row of the sweep before: its first occurrence is a rise then, and not a beginning.
 */
export class AerFile {
  /** Errors that ever had a row. */
  readonly shown = new Set<string>()
  #text: Buffer = Buffer.alloc(0)
  #counts: AerCounts = { errors: new Map(), total: undefined, malformed: '' }
  /** When the file was last read and sound; 0 before that. */
  #readAt = 0n

  /** Takes what was read of the file. */
  take(bytes: Uint8Array, time: bigint): AerReading {
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

  #fault(): string | undefined {
    const { malformed, total } = this.#counts
    if (malformed !== undefined) return `holds a line that is no count: ${JSON.stringify(malformed)}`
    return total === undefined ? 'holds no total' : undefined
  }
}
