import { SondeError } from '../../errors.ts'
import { keyOfNumber } from '../../internal/seeded-hash.ts'
import type { Symbols } from '../../schema/symbols.ts'
import { type BatchSymbols, TEXT_ID_MIN } from '../../schema/texts.ts'
import { DTB_LIMITS, WRITER_SYMBOL_ID } from './format.ts'

/** Ids of one table of texts lie within so many: none is larger. */
const TABLE_IDS_MAX = 1 << 24

/** The texts of a file, by the ids that its writer gave them, which need not be without gaps. */
export class FileSymbols implements Symbols {
  /** Those of labels without a gap, which is most often all; a list takes a tenth of the memory. */
  readonly #dense = ['']
  /** By the key of the id: a file says any ids. */
  readonly #sparse = new Map<number, string>()
  #texts = new FileTexts(this, TEXT_ID_MIN)
  #characters = 0
  #count = 1

  /** One more than the highest id of the source's labels. */
  get count(): number {
    return this.#count
  }

  /** What batches that are read now refer to. */
  get ofBatches(): BatchSymbols {
    return this.#texts
  }

  text(id: number): string {
    return this.#textOf(id) ?? `?${id}`
  }

  since(id: number, countMax = Number.POSITIVE_INFINITY): readonly string[] {
    return Array.from(
      { length: Math.min(countMax, Math.max(0, this.#count - id)) },
      (_, i) => this.#textOf(id + i) ?? '?',
    )
  }

  /** A new table of texts; that of before is forgotten. */
  beginTexts(firstId: number): void {
    this.#texts = new FileTexts(this, firstId)
  }

  /**
   * Takes texts whose ids ascend by one.
   *
   * @throws SondeError `DTB_CONTENT` where an id has another text already, `DTB_LIMIT` where there are too many.
   */
  add(firstId: number, texts: readonly string[]): void {
    // The block that begins the table may be lost, where a file is salvaged.
    if (firstId >= TEXT_ID_MIN && !this.#texts.mayHold(firstId)) this.beginTexts(firstId)
    for (const [i, text] of texts.entries()) {
      const id = firstId + i
      const known = this.#texts.own(id) ?? this.#textOf(id)
      if (known === text) continue
      if (known !== undefined) throw new SondeError('DTB_CONTENT', `symbol ${id} has two texts; allowed: one`)
      if (this.#texts.mayHold(id)) this.#texts.set(id, text)
      else this.#addOwn(id, text)
      const { symbolCount, symbolCharacters } = DTB_LIMITS
      const count = this.#dense.length + this.#sparse.size + this.#texts.count
      if (count > symbolCount || this.#characters + this.#texts.characters > symbolCharacters) {
        const allowed = `${symbolCount}, and ${symbolCharacters} characters`
        throw new SondeError('DTB_LIMIT', `more symbols than a reader keeps; allowed: ${allowed}`)
      }
    }
  }

  #addOwn(id: number, text: string): void {
    this.#characters += text.length
    if (id === this.#dense.length) this.#dense.push(text)
    else this.#sparse.set(keyOfNumber(id), text)
    if (id < WRITER_SYMBOL_ID) this.#count = Math.max(this.#count, id + 1)
  }

  #textOf(id: number): string | undefined {
    return id < this.#dense.length ? this.#dense[id] : this.#sparse.get(keyOfNumber(id))
  }
}

/** One table of texts, as far as the file holds it. */
class FileTexts implements BatchSymbols {
  readonly firstTextId: number
  nextTextId: number
  characters = 0
  readonly #labels: Symbols
  readonly #texts = new Map<number, string>()

  constructor(labels: Symbols, firstTextId: number) {
    this.#labels = labels
    this.firstTextId = firstTextId
    this.nextTextId = firstTextId
  }

  get count(): number {
    return this.#texts.size
  }

  get textBytes(): number {
    return 2 * this.characters
  }

  mayHold(id: number): boolean {
    return id >= this.firstTextId && id < this.firstTextId + TABLE_IDS_MAX
  }

  own(id: number): string | undefined {
    return this.#texts.get(keyOfNumber(id))
  }

  set(id: number, text: string): void {
    this.#texts.set(keyOfNumber(id), text)
    this.characters += text.length
    this.nextTextId = Math.max(this.nextTextId, id + 1)
  }

  text(id: number): string {
    return this.own(id) ?? this.#labels.text(id)
  }

  textsFrom(id: number, countMax = Number.POSITIVE_INFINITY): readonly string[] {
    return Array.from({ length: Math.min(countMax, Math.max(0, this.nextTextId - id)) }, (_, i) => this.text(id + i))
  }
}
