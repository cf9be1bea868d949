import { SondeError } from '../errors.ts'

/** What a reader of records needs of their writer's symbols. */
export interface Symbols {
  /** The text of a symbol; an id that was never announced reads as `?<id>`. */
  text(id: number): string
  /** Number of symbols; ids run from 0. */
  readonly count: number
  /** The texts from an id on: what a file or a peer has not been told yet. */
  since(id: number): readonly string[]
}

const TEXT_CHARACTERS_LIMIT = 4096

/**
 * A writer's append-only table of repeating text. Id 0 is the empty text. Bounded: when it is full, new text becomes the symbol of
 * `"…"` and is counted, so that the record itself is never lost.
 */
export class SymbolTable implements Symbols {
  readonly #texts: string[] = ['', '…']
  readonly #ids = new Map<string, number>([
    ['', 0],
    ['…', 1],
  ])
  readonly #countLimit: number
  /** Texts that found the table full. */
  overflowed = 0

  /** @param countLimit Symbols at most. Range: 2 to 16 777 216. Default: 65 536. */
  constructor(countLimit = 65_536) {
    if (!Number.isInteger(countLimit) || countLimit < 2 || countLimit > 1 << 24) {
      throw new SondeError('SCH_LIMIT', `a symbol table of ${countLimit}; allowed: 2 to 16777216`)
    }
    this.#countLimit = countLimit
  }

  get count(): number {
    return this.#texts.length
  }

  /** The id of a text, made on first use. Text beyond 4096 characters is cut. */
  id(text: string): number {
    const known = this.#ids.get(text)
    if (known !== undefined) return known
    if (text.length > TEXT_CHARACTERS_LIMIT) return this.id(text.slice(0, TEXT_CHARACTERS_LIMIT))
    if (this.#texts.length >= this.#countLimit) {
      this.overflowed++
      return 1
    }
    const id = this.#texts.push(text) - 1
    this.#ids.set(text, id)
    return id
  }

  text(id: number): string {
    return this.#texts[id] ?? `?${id}`
  }

  since(id: number): readonly string[] {
    return this.#texts.slice(id)
  }
}
