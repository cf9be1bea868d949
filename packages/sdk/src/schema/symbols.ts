import { SondeError } from '../errors.ts'

/** The texts that identify: labels, by the ids that their source gave them for its life. */
export interface Symbols {
  /** The text of a symbol; an id that was never announced reads as `?<id>`. */
  text(id: number): string
  /** Number of symbols; ids run from 0. */
  readonly count: number
  /**
   * The texts from an id on, so many at most: what a file or a peer has not been told yet. Default of `countMax`: all.
   */
  since(id: number, countMax?: number): readonly string[]
}

/**
 * Why sources drop records: all reasons that there are. They have symbols from the start, so that a full table does not
 * keep a source from reporting its losses.
 */
export const LOSS_REASONS = [
  'symbol_limit',
  'metric_series_limit',
  'metric_no_room',
  'absence_limit',
  'failed',
] as const
/** One of {@link LOSS_REASONS}. */
export type LossReason = (typeof LOSS_REASONS)[number]
/** Symbols of every source: the empty text, `…`, its id, and the reasons above. */
export const OWN_SYMBOL_COUNT = 3 + LOSS_REASONS.length

const TEXT_CHARACTERS_LIMIT = 4096
/** Symbols that a table may have at most: what a file can name beside those of its writer. */
const SYMBOL_COUNT_LIMIT = 4_000_000

/**
 * A source's append-only table of the texts of its labels. Id 0 is the empty text. Bounded: when it is full, new text
 * that identifies has no symbol, since under a symbol that others share, series would run into each other. New text
 * that is data becomes the symbol of `"…"` then, and is counted in `overflowed`; text fields have a table of their own,
 * which is replaced when it is full.
 */
export class SymbolTable implements Symbols {
  /** Symbols at most. */
  readonly countLimit: number
  readonly #texts: string[] = ['', '…']
  readonly #ids = new Map<string, number>([
    ['', 0],
    ['…', 1],
  ])
  /** Texts that read `…` because they found the table full. */
  overflowed = 0
  /** Times that a text was cut; one that comes again counts again. */
  cut = 0
  readonly #onFirstCut: () => void
  /** An encoder that has no texts of their own takes labels for them, whose ids stay. */
  readonly tableIndex = 0

  /**
   * @param countLimit Symbols at most. Range: 2 to 4 000 000. Default: 65 536.
   * @param onFirstCut Called when a text is cut for the first time.
   * @param own Texts that are there from the start, beside the limit: what a source reports its losses with.
   */
  constructor(countLimit = 65_536, onFirstCut: () => void = () => undefined, own: readonly string[] = []) {
    if (!Number.isInteger(countLimit) || countLimit < 2 || countLimit > SYMBOL_COUNT_LIMIT) {
      throw new SondeError('SCH_LIMIT', `a symbol table of ${countLimit}; allowed: 2 to ${SYMBOL_COUNT_LIMIT}`)
    }
    this.countLimit = countLimit + own.length
    this.#onFirstCut = onFirstCut
    for (const text of own) if (!this.#ids.has(text)) this.#add(text)
  }

  get count(): number {
    return this.#texts.length
  }

  /**
   * The id of a text, made on first use; that of `…` if the table is full. Text beyond 4096 characters is cut, and
   * counted in `cut`.
   */
  id(text: string): number {
    const id = this.idOfLabel(text)
    if (id !== undefined) return id
    this.overflowed++
    return 1
  }

  /** The id of a text that identifies; undefined if the table is full. */
  idOfLabel(text: string): number | undefined {
    const known = this.#ids.get(text)
    if (known !== undefined) return known
    const kept = this.shortened(text)
    if (kept !== text) return this.idOfLabel(kept)
    return this.#texts.length < this.countLimit ? this.#add(text) : undefined
  }

  /** As much of a text as is kept: 4096 characters. What is cut is counted in `cut`. */
  shortened(text: string): string {
    if (text.length <= TEXT_CHARACTERS_LIMIT) return text
    if (++this.cut === 1) this.#onFirstCut()
    return text.slice(0, TEXT_CHARACTERS_LIMIT)
  }

  text(id: number): string {
    return this.#texts[id] ?? `?${id}`
  }

  since(id: number, countMax = Number.POSITIVE_INFINITY): readonly string[] {
    return this.#texts.slice(id, id + countMax)
  }

  #add(text: string): number {
    const id = this.#texts.push(text) - 1
    this.#ids.set(text, id)
    return id
  }
}
