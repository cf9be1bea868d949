/** When a table is full. */
export interface InternedLimits {
  readonly texts: number
  /** Memory of the texts. Unit: bytes. */
  readonly bytes: number
}

const LIMITS: InternedLimits = { texts: 1 << 20, bytes: 64 << 20 }

/**
 * The texts of labels, each encoded once. A number is valid for one generation of the table. Texts of series that have
 * ended stay until the table is full; then it begins again, so that it never grows beyond its limits.
 */
export class InternedTexts {
  generation = 0
  readonly #ids = new Map<string, number>()
  #bytes: Buffer[] = []
  #heldBytes = 0
  readonly #limits: InternedLimits

  /** @param limits Default: 2^20 texts, 64 MiB. */
  constructor(limits: InternedLimits = LIMITS) {
    this.#limits = limits
  }

  /** Number of texts. */
  get count(): number {
    return this.#bytes.length
  }

  /** Whether the table should begin again. */
  get isFull(): boolean {
    return this.count >= this.#limits.texts || this.#heldBytes >= this.#limits.bytes
  }

  /** The number of a text. */
  id(text: string): number {
    const known = this.#ids.get(text)
    if (known !== undefined) return known
    const bytes = Buffer.from(text)
    const id = this.#bytes.push(bytes) - 1
    this.#ids.set(text, id)
    this.#heldBytes += bytes.length
    return id
  }

  /** The bytes of the text of a number. */
  bytesOf(id: number): Buffer {
    return this.#bytes[id]!
  }

  /** Forgets all texts. */
  clear(): void {
    this.generation++
    this.#ids.clear()
    this.#bytes = []
    this.#heldBytes = 0
  }
}
