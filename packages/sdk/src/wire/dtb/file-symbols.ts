import { SondeError } from '../../errors.ts'
import type { Symbols } from '../../schema/symbols.ts'
import { WRITER_SYMBOL_ID } from './format.ts'

const COUNT_LIMIT = 1 << 24
/** UTF-16 units of all texts; what they take in memory is twice that at most. */
const CHARACTERS_LIMIT = 128 << 20

/** The texts of a file, by the ids that its writer gave them, which need not be without gaps. */
export class FileSymbols implements Symbols {
  /** Those without a gap, which is most often all; a list takes a tenth of the memory. */
  readonly #dense = ['']
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
      if (this.#dense.length + this.#sparse.size >= COUNT_LIMIT || this.#characters > CHARACTERS_LIMIT) {
        throw new SondeError(
          'DTB_LIMIT',
          `more symbols than a reader keeps; allowed: ${COUNT_LIMIT}, and ${CHARACTERS_LIMIT} characters`,
        )
      }
      if (id === this.#dense.length) this.#dense.push(text)
      else this.#sparse.set(id, text)
      if (id < WRITER_SYMBOL_ID) this.#count = Math.max(this.#count, id + 1)
    }
  }
  #textOf(id: number): string | undefined {
    return this.#dense[id] ?? this.#sparse.get(id)
  }
}
