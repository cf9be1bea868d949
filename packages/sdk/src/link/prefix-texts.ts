import type { Symbols } from '../schema/symbols.ts'
import { TEXT_ID_MIN, TextTable, textBytes } from '../schema/texts.ts'
import { type LinkCodes, wrongItem } from './codes.ts'
import { TEXT_CHARACTERS_MAX } from './item.ts'

/**
 * The labels and texts of a source whose writer announces each table from its start and without gaps. An id that was
 * not announced reads as `?<id>`.
 */
export class PrefixTexts implements Symbols {
  /** The longest text so far. Unit: characters. */
  longest = 0
  /** The table for the batches that follow. */
  ofBatches = new TextTable(this)
  readonly #texts: string[] = []
  readonly #codes: LinkCodes

  constructor(codes: LinkCodes) {
    this.#codes = codes
  }

  get count(): number {
    return this.#texts.length
  }

  text(id: number): string {
    return this.#texts[id] ?? `?${id}`
  }

  since(id: number, countMax = Number.POSITIVE_INFINITY): readonly string[] {
    return this.#texts.slice(id, id + countMax)
  }

  /**
   * Adds labels, or texts of text fields; an empty list starts a new table of texts.
   *
   * @returns The change of the memory in use. Unit: bytes.
   * @throws SondeError with a code of its transport if the ids do not continue the table, or a text is too long.
   */
  take(firstId: number, texts: readonly string[]): number {
    if (texts.some(({ length }) => length > TEXT_CHARACTERS_MAX)) {
      throw wrongItem(this.#codes, 'a text is too long', `${TEXT_CHARACTERS_MAX} characters`)
    }
    if (firstId >= TEXT_ID_MIN) return this.#takeTexts(firstId, texts)
    this.#checkNext(firstId, this.#texts.length)
    let bytes = 0
    for (const text of texts) {
      this.#texts.push(text)
      this.longest = Math.max(this.longest, text.length)
      bytes += textBytes(text)
    }
    return bytes
  }

  #takeTexts(firstId: number, texts: readonly string[]): number {
    const before = this.ofBatches.textBytes
    if (texts.length === 0) this.ofBatches = new TextTable(this, firstId)
    this.#checkNext(firstId, this.ofBatches.nextTextId)
    for (const text of texts) {
      this.ofBatches.add(text)
      this.longest = Math.max(this.longest, text.length)
    }
    return this.ofBatches.textBytes - before
  }

  #checkNext(firstId: number, nextId: number): void {
    if (firstId === nextId) return
    throw wrongItem(this.#codes, `symbols begin at ${firstId}`, `${nextId}, the next one`)
  }
}
