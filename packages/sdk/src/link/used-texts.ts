import { SondeError } from '../errors.ts'
import { keyOfNumber } from '../internal/seeded-hash.ts'
import type { Symbols } from '../schema/symbols.ts'
import { type BatchSymbols, TEXT_ID_MIN } from '../schema/texts.ts'
import { type LinkCodes, wrongItem } from './codes.ts'

/** The range of ids of one table of texts; no table is larger. */
const TABLE_IDS_MAX = 1 << 24

/** Limits of a reader for the texts of one source. */
export interface UsedLimits {
  /** Labels and the texts of one table together. */
  readonly countMax: number
  /** Characters of all these. */
  readonly charactersMax: number
  /** Ids of labels from here on belong to the writer, not to the source. */
  readonly labelIdEnd: number
}

/**
 * The labels and texts of a source whose writer announces only the ids that records use: ids may have gaps. An id that
 * was not announced reads as `?<id>`.
 */
export class UsedTexts implements Symbols {
  readonly #limits: UsedLimits
  readonly #codes: LinkCodes
  /** Labels up to the first gap, usually all: a list takes a tenth of the memory of a map. */
  readonly #dense = ['']
  /** Other labels, by a hashed key: a file may name any id. */
  readonly #sparse = new Map<number, string>()
  #texts = new UsedTable(this, TEXT_ID_MIN)
  #characters = 0
  #count = 1

  constructor(limits: UsedLimits, codes: LinkCodes) {
    this.#limits = limits
    this.#codes = codes
  }

  /** One more than the highest id of the source's labels. */
  get count(): number {
    return this.#count
  }

  /** The table for the batches that follow. */
  get ofBatches(): BatchSymbols {
    return this.#texts
  }

  text(id: number): string {
    return this.#textOf(id) ?? `?${id}`
  }

  since(id: number, countMax = Number.POSITIVE_INFINITY): readonly string[] {
    const count = Math.min(countMax, Math.max(0, this.#count - id))
    return Array.from({ length: count }, (_, i) => this.#textOf(id + i) ?? '?')
  }

  /**
   * Adds labels, or texts of text fields; an empty list starts a new table of texts.
   *
   * @throws SondeError with a code of its transport if an id already has another text, or a limit is exceeded.
   */
  take(firstId: number, texts: readonly string[]): void {
    // In a salvaged file, the item that starts the table may be lost.
    const begins = firstId >= TEXT_ID_MIN && (texts.length === 0 || !this.#texts.mayHold(firstId))
    if (begins) this.#texts = new UsedTable(this, firstId)
    for (const [i, text] of texts.entries()) this.#add(firstId + i, text)
  }

  #add(id: number, text: string): void {
    const known = this.#texts.own(id) ?? this.#textOf(id)
    if (known === text) return
    if (known !== undefined) throw wrongItem(this.#codes, `symbol ${id} has two texts`, 'one')
    if (this.#texts.mayHold(id)) this.#texts.set(id, text)
    else this.#addLabel(id, text)
    const { countMax, charactersMax } = this.#limits
    const count = this.#dense.length + this.#sparse.size + this.#texts.count
    if (count <= countMax && this.#characters + this.#texts.characters <= charactersMax) return
    const allowed = `${countMax}, and ${charactersMax} characters`
    throw new SondeError(this.#codes.limit, `more symbols than a reader keeps; allowed: ${allowed}`)
  }

  #addLabel(id: number, text: string): void {
    this.#characters += text.length
    if (id === this.#dense.length) this.#dense.push(text)
    else this.#sparse.set(keyOfNumber(id), text)
    if (id < this.#limits.labelIdEnd) this.#count = Math.max(this.#count, id + 1)
  }

  #textOf(id: number): string | undefined {
    return id < this.#dense.length ? this.#dense[id] : this.#sparse.get(keyOfNumber(id))
  }
}

/** The announced part of one table of texts. */
class UsedTable implements BatchSymbols {
  readonly firstTextId: number
  nextTextId: number
  characters = 0
  readonly #labels: Pick<Symbols, 'text'>
  readonly #texts = new Map<number, string>()

  constructor(labels: Pick<Symbols, 'text'>, firstTextId: number) {
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
