const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const [BRACE, BRACE_END, BRACKET, BRACKET_END] = [0x7b, 0x7d, 0x5b, 0x5d] as const

/** Largest text outside the list. Unit: bytes. */
const ENVELOPE_LIMIT_BYTES = 1 << 20

/**
 * Takes the elements of one list out of a JSON text that arrives in pieces. Neither the text nor its value is ever in
 * memory as a whole, and no turn reads more than one element. The list is the first array or object at a depth: depth 3
 * for `{"data":{"result":[…]}}`, depth 2 for `{"data":[…]}`.
 */
export class ElementReader {
  readonly #depthOfList: number
  readonly #elementLimitBytes: number
  readonly #envelope: Buffer[] = []
  #envelopeBytes = 0
  #element: Buffer[] = []
  #elementBytes = 0
  #depth = 0
  #isInText = false
  #isEscaped = false
  #isInList = false
  #wasInList = false

  constructor(depthOfList: number, elementLimitBytes: number) {
    this.#depthOfList = depthOfList
    this.#elementLimitBytes = elementLimitBytes
  }

  /**
   * Reads a piece, and yields the text of each element that ends in it.
   *
   * @throws RangeError if an element, or the text outside the list, is too long.
   */
  *push(piece: Uint8Array): Generator<string> {
    let start = 0
    for (let i = 0; i < piece.length; i++) {
      const byte = piece[i] as number
      if (this.#isInText) {
        if (this.#isEscaped) this.#isEscaped = false
        else if (byte === BACKSLASH) this.#isEscaped = true
        else if (byte === QUOTE) this.#isInText = false
        continue
      }
      if (byte === QUOTE) this.#isInText = true
      else if (byte === BRACE || byte === BRACKET) {
        this.#depth++
        if (this.#depth !== this.#depthOfList || this.#wasInList) continue
        this.#isInList = true
        this.#wasInList = true
        this.#keep(piece.subarray(start, i + 1))
        start = i + 1
      } else if (byte === BRACE_END || byte === BRACKET_END) {
        this.#depth--
        if (!this.#isInList || this.#depth >= this.#depthOfList) continue
        yield* this.#take(piece.subarray(start, i))
        this.#isInList = false
        start = i
      } else if (byte === COMMA && this.#isInList && this.#depth === this.#depthOfList) {
        yield* this.#take(piece.subarray(start, i))
        start = i + 1
      }
    }
    if (this.#isInList) this.#hold(piece.subarray(start))
    else this.#keep(piece.subarray(start))
  }

  /**
   * The value of the text outside the list; the list is empty.
   *
   * @throws SyntaxError if the text is no JSON.
   */
  envelope(): unknown {
    return JSON.parse(Buffer.concat(this.#envelope).toString())
  }

  *#take(rest: Uint8Array): Generator<string> {
    this.#hold(rest)
    const text = Buffer.concat(this.#element).toString()
    this.#element = []
    this.#elementBytes = 0
    if (text.trim() !== '') yield text
  }

  #hold(part: Uint8Array): void {
    this.#elementBytes += part.length
    if (this.#elementBytes > this.#elementLimitBytes) throw new RangeError('an element of the answer is too long')
    if (part.length > 0) this.#element.push(Buffer.from(part))
  }

  #keep(part: Uint8Array): void {
    this.#envelopeBytes += part.length
    if (this.#envelopeBytes > ENVELOPE_LIMIT_BYTES) throw new RangeError('the answer has too much around its list')
    if (part.length > 0) this.#envelope.push(Buffer.from(part))
  }
}
