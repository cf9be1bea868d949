import { SondeError } from '../../errors.ts'
import { keyOfNumber } from '../../internal/seeded-hash.ts'
import type { Symbols } from '../../schema/symbols.ts'
import { DTB_LIMITS, WRITER_SYMBOL_ID } from './format.ts'

/** The texts of a file, by the ids that its writer gave them, which need not be without gaps. */
export class FileSymbols implements Symbols {
  /** Those without a gap, which is most often all; a list takes a tenth of the memory. */
  readonly #dense = ['']
  /** By the key of the id: a file says any ids. */
  readonly #sparse = new Map<number, string>()
  #characters = 0
  #count = 1

  /** One more than the highest id of the source. */
  get count(): number {
    return this.#count
  }

  text(id: number): string {
    return this.#textOf(id) ?? `?${id}`
  }

  since(id: number): readonly string[] {
    return Array.from({ length: Math.max(0, this.#count - id) }, (_, i) => this.#textOf(id + i) ?? '?')
  }

  /**
   * Takes texts whose ids ascend by one.
   *
   * @throws SondeError `DTB_CONTENT` where an id has another text already, `DTB_LIMIT` where there are too many.
   */
  add(firstId: number, texts: readonly string[]): void {
    for (const [i, text] of texts.entries()) {
      const id = firstId + i
      const known = this.#textOf(id)
      if (known === text) continue
      if (known !== undefined) throw new SondeError('DTB_CONTENT', `symbol ${id} has two texts; allowed: one`)
      this.#characters += text.length
      const { symbolCount, symbolCharacters } = DTB_LIMITS
      if (this.#dense.length + this.#sparse.size >= symbolCount || this.#characters > symbolCharacters) {
        const allowed = `${symbolCount}, and ${symbolCharacters} characters`
        throw new SondeError('DTB_LIMIT', `more symbols than a reader keeps; allowed: ${allowed}`)
      }
      if (id === this.#dense.length) this.#dense.push(text)
      else this.#sparse.set(keyOfNumber(id), text)
      if (id < WRITER_SYMBOL_ID) this.#count = Math.max(this.#count, id + 1)
    }
  }

  #textOf(id: number): string | undefined {
    return id < this.#dense.length ? this.#dense[id] : this.#sparse.get(keyOfNumber(id))
  }
}
