import { SondeError } from '../errors.ts'

/** The texts of labels, by ids that stay the same for the life of their source. */
export interface Symbols {
  /** The text of a symbol; an id that was never announced reads as `?<id>`. */
  text(id: number): string
  /** Number of symbols; ids run from 0. */
  readonly count: number
  /**
   * The texts from an id on, at most `countMax`, for a writer that has announced the earlier texts. Default: all.
   */
  since(id: number, countMax?: number): readonly string[]
}

/**
 * All reasons for which sources drop records. They have symbols from the start, so that a source with a full table can
 * report its losses.
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
/** Number of initial symbols of a source: the empty text, `…`, its id, and the reasons above. */
export const OWN_SYMBOL_COUNT = 3 + LOSS_REASONS.length

const TEXT_CHARACTERS_LIMIT = 4096
/** The largest table: ids above belong to the writer of a file. */
const SYMBOL_COUNT_LIMIT = 4_000_000

/**
 * The append-only symbol table of a source. Id 0 is the empty text. When the table is full, a new label gets no symbol,
 * because a shared symbol would mix series. New text that is data gets the symbol of `"…"` and counts in `overflowed`.
 * Text fields have a table of their own, which is replaced when it is full.
 */
export class SymbolTable implements Symbols {
  /** Limit of symbols. */
  readonly countLimit: number
  readonly #texts: string[] = ['', '…']
  readonly #ids = new Map<string, number>([
    ['', 0],
    ['…', 1],
  ])
  /** Number of texts that became `…` because the table was full. */
  overflowed = 0
  /** Number of times that a text was cut; a repeated text counts again. */
  cut = 0
  readonly #onFirstCut: () => void
  /** Ids never restart: for an encoder that uses this table for text fields too. */
  readonly tableIndex = 0

  /**
   * @param countLimit Limit of symbols. Range: 2 to 4 000 000. Default: 65 536.
   * @param onFirstCut Called when a text is cut for the first time.
   * @param own Initial texts, beside the limit, with which a source reports its losses.
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
   * The id of a text, assigned on first use; the id of `…` if the table is full. Text beyond 4096 characters is cut and
   * counted in `cut`.
   */
  id(text: string): number {
    const id = this.idOfLabel(text)
    if (id !== undefined) return id
    this.overflowed++
    return 1
  }

  /** The id of a label text; undefined if the table is full. */
  idOfLabel(text: string): number | undefined {
    const known = this.#ids.get(text)
    if (known !== undefined) return known
    const kept = this.shortened(text)
    if (kept !== text) return this.idOfLabel(kept)
    return this.#texts.length < this.countLimit ? this.#add(text) : undefined
  }

  /** The first 4096 characters of a text. A cut text counts in `cut`. */
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
