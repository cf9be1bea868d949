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
/** Symbols that a table may have at most: what a file can name beside those of its writer. */
const SYMBOL_COUNT_LIMIT = 4_000_000

/**
 * A writer's append-only table of repeating text. Id 0 is the empty text. Bounded: when it is full, new text that is data becomes the symbol of `"…"` and is
 * counted in `overflowed`. New text that identifies has no symbol then: under one that others share, series would run into each other.
 */
export class SymbolTable implements Symbols {
  readonly #texts: string[] = ['', '…']
  readonly #ids = new Map<string, number>([
    ['', 0],
    ['…', 1],
  ])
  readonly #countLimit: number
  /** Texts that read `…` because they found the table full. */
  overflowed = 0
  /** Times that a text was cut; one that comes again counts again. */
  cut = 0
  readonly #onFirstCut: () => void

  /**
   * @param countLimit Symbols at most. Range: 2 to 4 000 000. Default: 65 536.
   * @param onFirstCut Called when a text is cut for the first time.
   */
  constructor(countLimit = 65_536, onFirstCut: () => void = () => undefined) {
    if (!Number.isInteger(countLimit) || countLimit < 2 || countLimit > SYMBOL_COUNT_LIMIT) {
      throw new SondeError('SCH_LIMIT', `a symbol table of ${countLimit}; allowed: 2 to ${SYMBOL_COUNT_LIMIT}`)
    }
    this.#countLimit = countLimit
    this.#onFirstCut = onFirstCut
  }

  get count(): number {
    return this.#texts.length
  }

  /** The id of a text, made on first use; that of `…` where the table is full. Text beyond 4096 characters is cut, and counted in `cut`. */
  id(text: string): number {
    const id = this.idOfLabel(text)
    if (id !== undefined) return id
    this.overflowed++
    return 1
  }

  /** The id of a text that identifies; undefined where the table is full. */
  idOfLabel(text: string): number | undefined {
    const known = this.#ids.get(text)
    if (known !== undefined) return known
    if (text.length > TEXT_CHARACTERS_LIMIT) {
      if (++this.cut === 1) this.#onFirstCut()
      return this.idOfLabel(text.slice(0, TEXT_CHARACTERS_LIMIT))
    }
    return this.#texts.length < this.#countLimit ? this.#add(text) : undefined
  }

  /** Makes sure of one of the few texts that a source needs to tell of itself: also where the table is full. */
  reserve(text: string): void {
    if (!this.#ids.has(text)) this.#add(text)
  }

  text(id: number): string {
    return this.#texts[id] ?? `?${id}`
  }

  since(id: number): readonly string[] {
    return this.#texts.slice(id)
  }

  #add(text: string): number {
    const id = this.#texts.push(text) - 1
    this.#ids.set(text, id)
    return id
  }
}
