import { type Batch, SondeError } from '@sonde/sdk'
import { messageOf } from '@sonde/sdk/internal'
import type { ReadFormat, RecordSlice } from './format.ts'
import type { Output } from './output.ts'
import { FileReading, type ReadingOptions } from './reading.ts'
import type { Selection } from './select.ts'

/** Options of {@link Printer}. */
export interface PrinterOptions extends Omit<ReadingOptions, 'selection'> {
  readonly selection: Selection
  readonly format: ReadFormat
  readonly output: Output
  /** Largest number of records that are printed. */
  readonly limit: number
  /** Takes messages to the user, one line each. */
  readonly tell: (line: string) => void
  readonly onProgress?: (reading: FileReading) => void
}

/** Prints the records of files, and remembers whether a file was damaged. */
export class Printer {
  readonly #options: PrinterOptions
  /** Records that were printed or summed up. */
  printed = 0
  /** Files that could not be opened. */
  unreadable = 0
  /** Files with a damaged part, without those that were only cut off. */
  damaged = 0
  /** Files with a damaged part, including the last block of a killed writer. */
  faulty = 0

  constructor(options: PrinterOptions) {
    this.#options = options
  }

  /** Whether enough was printed, or the reader has left. */
  get isDone(): boolean {
    return this.printed >= this.#options.limit || this.#options.output.isClosed
  }

  /** Opens a file; reports why it cannot. */
  open(path: string): FileReading | undefined {
    try {
      return new FileReading(path, this.#options)
    } catch (error) {
      this.#tellUnreadable(error)
      return undefined
    }
  }

  /** Prints the records that a file has now. False if there were none. */
  async drain(reading: FileReading): Promise<boolean> {
    const before = reading.at
    try {
      for (let batch = reading.next(); batch !== undefined && !this.isDone; batch = reading.next()) {
        await this.print(batch)
        this.#options.onProgress?.(reading)
      }
    } catch (error) {
      this.#tellUnreadable(error)
    }
    return reading.at > before
  }

  /** Finishes a file: reports its damaged parts. */
  close(reading: FileReading): void {
    reading.close()
    const { kept, count } = reading.faults
    if (count > 0) this.faulty++
    if (kept.some(({ code }) => code !== 'DTB_TRUNCATED')) this.damaged++
    if (reading.end?.fault?.code === 'DTB_FILE') this.unreadable++
    for (const { at, bytes, message } of kept) {
      this.#options.tell(`${reading.path}: at ${at}: ${message}; ${bytes} bytes are ignored`)
    }
    if (count > kept.length) this.#options.tell(`${reading.path}: and ${count - kept.length} more such places`)
  }

  /** Prints the selected records of a batch. */
  async print(batch: Batch): Promise<void> {
    for (const chosen of this.#options.selection.of(batch)) {
      await this.#printChosen(chosen)
      if (this.isDone) return
    }
  }

  async #printChosen(chosen: RecordSlice): Promise<void> {
    const { format, output, limit } = this.#options
    const left = limit - this.printed
    const taken = chosen.offsets.length > left ? { ...chosen, offsets: chosen.offsets.slice(0, left) } : chosen
    this.printed += taken.offsets.length
    await output.write(format.records(taken))
  }

  #tellUnreadable(error: unknown): void {
    if (!(error instanceof SondeError) || error.code !== 'DTB_READ') throw error
    this.unreadable++
    this.#options.tell(messageOf(error))
  }
}
