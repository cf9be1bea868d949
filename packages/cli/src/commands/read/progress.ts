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

  constructor(totalBytes: number, { isShown }: { readonly isShown: boolean }) {
    this.#totalBytes = totalBytes
    this.#isShown = isShown
  }

  /** Shows the progress, at most once in 250 ms. */
  at(bytes: number, records: number): void {
    if (!this.#isShown || performance.now() < this.#dueMs) return
    this.#dueMs = performance.now() + EVERY_MS
    const part = this.#totalBytes === 0 ? 0 : Math.min(1, bytes / this.#totalBytes)
    const seconds = (performance.now() - this.#startMs) / 1000
    const sizes = `${(bytes / 1e6).toFixed(0)} of ${(this.#totalBytes / 1e6).toFixed(0)} MB`
    const rate = `${records.toLocaleString('en-GB')} records, ${Math.round(records / seconds).toLocaleString('en-GB')} a second`
    process.stderr.write(`\r\x1b[K${(part * 100).toFixed(0)} % · ${sizes} · ${rate}`)
    this.#isOnScreen = true
  }

  /** Clears the line. */
  clear(): void {
    if (this.#isOnScreen) process.stderr.write('\r\x1b[K')
    this.#isOnScreen = false
  }
}
