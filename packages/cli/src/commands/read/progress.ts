/** Work that ends sooner shows no progress. Unit: milliseconds. */
const AFTER_MS = 1000
const EVERY_MS = 250

/**
 * Progress of long work: a line on standard error that is overwritten, if that is a terminal.
 */
export class Progress {
  readonly #totalBytes: number
  readonly #isShown: boolean
  readonly #startMs = performance.now()
  #dueMs = this.#startMs + AFTER_MS
  #isOnScreen = false

  /** @param totalBytes All that is read; 0 if that is unknown. */
  constructor(totalBytes: number, { isShown }: { readonly isShown: boolean }) {
    this.#totalBytes = totalBytes
    this.#isShown = isShown
  }

  /** Shows the progress, at most once in 250 ms. */
  at(bytes: number, records: number): void {
    if (!this.#isShown || performance.now() < this.#dueMs) return
    this.#dueMs = performance.now() + EVERY_MS
    const seconds = (performance.now() - this.#startMs) / 1000
    const rate = `${records.toLocaleString('en-GB')} records, ${Math.round(records / seconds).toLocaleString('en-GB')} a second`
    process.stderr.write(`\r\x1b[K${this.#part(bytes)}${rate}`)
    this.#isOnScreen = true
  }

  /** The part that is done; empty without a total. */
  #part(bytes: number): string {
    if (this.#totalBytes === 0) return ''
    const percent = (Math.min(1, bytes / this.#totalBytes) * 100).toFixed(0)
    return `${percent} % · ${(bytes / 1e6).toFixed(0)} of ${(this.#totalBytes / 1e6).toFixed(0)} MB · `
  }

  /** Clears the line. */
  clear(): void {
    if (this.#isOnScreen) process.stderr.write('\r\x1b[K')
    this.#isOnScreen = false
  }
}
