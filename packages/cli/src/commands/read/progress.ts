/** Work that is done sooner is not spoken of. Unit: milliseconds. */
const AFTER_MS = 1000
const EVERY_MS = 250

/**
 * How far a long work is: a line on standard error that is written over again and again, where a person looks at it.
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

  /** Says how far it is, now and then. */
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

  /** Leaves nothing of it on the screen. */
  clear(): void {
    if (this.#isOnScreen) process.stderr.write('\r\x1b[K')
    this.#isOnScreen = false
  }
}
