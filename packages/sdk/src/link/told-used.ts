import type { Batch } from '../schema/batch.ts'
import { OWN_SYMBOL_COUNT, type Symbols } from '../schema/symbols.ts'
import { type BatchSymbols, TEXT_ID_MIN } from '../schema/texts.ts'
import type { SymbolsItem } from './item.ts'
import { symbolPlaces } from './symbol-places.ts'

/** Texts between two that are needed are told along with them up to this many: another item would take more. */
const GAP_COUNT = 4
/** Texts that one item takes. */
const ITEM_COUNT_LIMIT = 4096

/** Records, and where they begin in their bytes. */
export interface UsedRecords extends Pick<Batch, 'type' | 'count' | 'symbols' | 'bytes'> {
  /** Unit: bytes. Default: 0. */
  readonly offset?: number
}

/**
 * Which texts of a source the other end has been told, where it is told only those that records use: a source may have
 * many more, and a file is whole in itself.
 */
export class ToldUsed {
  readonly #source: number
  readonly #symbols: Symbols
  readonly #labels = new Told(0)
  /** The table that records with text refer to now, and what of it was told. */
  #table: BatchSymbols | undefined
  #texts = new Told(TEXT_ID_MIN)
  #isBegun = false

  /** @param source What items call the source. */
  constructor(source: number, symbols: Symbols) {
    this.#source = source
    this.#symbols = symbols
    // The empty text needs no telling.
    this.#labels.tell(0)
  }

  /** Characters of all that a reader must keep of it. */
  get characters(): number {
    return this.#labels.characters + this.#texts.characters
  }

  /** Gives the texts that records use and that the other end lacks. They are taken to be told. */
  tell({ type, bytes, offset = 0, count, symbols }: UsedRecords, out: (item: SymbolsItem) => void): void {
    const { offsets, hasTexts } = symbolPlaces(type)
    if (hasTexts && symbols !== this.#table) this.#replace(symbols)
    this.#labels.grow(this.#symbols.count)
    if (hasTexts) this.#texts.grow(symbols.nextTextId)
    if (this.#labels.isWhole && (!hasTexts || this.#texts.isWhole)) return
    const data = new DataView(bytes.buffer, bytes.byteOffset + offset, count * type.layout.recordBytes)
    const newLabels = newIds(this.#labels, data, type.layout.recordBytes, offsets)
    // Seldom used, but without them a file would never have been told all, and every record would have to be looked at.
    for (let id = 1; newLabels.length > 0 && id < OWN_SYMBOL_COUNT; id++) if (this.#labels.wants(id)) newLabels.push(id)
    const newTexts = hasTexts ? newIds(this.#texts, data, type.layout.recordBytes, offsets) : []
    for (const run of runsOf(newLabels)) out(this.#item(this.#labels, run, this.#symbols))
    if (newTexts.length > 0 && !this.#isBegun) {
      out({ kind: 'symbols', source: this.#source, firstId: symbols.firstTextId, texts: [] })
      this.#isBegun = true
    }
    for (const run of runsOf(newTexts)) out(this.#item(this.#texts, run, symbols))
  }

  /** Goes on with another table of texts: a reader may forget the one before. */
  #replace(symbols: BatchSymbols): void {
    this.#table = symbols
    this.#texts = new Told(symbols.firstTextId)
    this.#isBegun = false
  }

  #item(told: Told, [firstId, last]: readonly [number, number], symbols: Pick<BatchSymbols, 'text'>): SymbolsItem {
    const texts: string[] = []
    for (let id = firstId; id <= last; id++) {
      const text = symbols.text(id)
      texts.push(text)
      told.tell(id, text)
    }
    return { kind: 'symbols', source: this.#source, firstId, texts }
  }
}

/** Which ids of one table were told: those from `firstId` on. */
class Told {
  readonly firstId: number
  /** How many ids there are. */
  #known = 0
  #count = 0
  characters = 0
  /** 1 where an id was told, 2 where it is about to be. */
  #marks = new Uint8Array(64)

  constructor(firstId: number) {
    this.firstId = firstId
  }

  get isWhole(): boolean {
    return this.#count >= this.#known
  }

  /** There are ids below `nextId`. */
  grow(nextId: number): void {
    this.#known = nextId - this.firstId
    if (this.#marks.length >= this.#known) return
    const marks = new Uint8Array(2 ** Math.ceil(Math.log2(this.#known)))
    marks.set(this.#marks)
    this.#marks = marks
  }

  /** Whether an id must be told, once: it is taken to be told soon. Bytes from elsewhere may hold ids that are none. */
  wants(id: number): boolean {
    const place = id - this.firstId
    if (place < 0 || place >= this.#known || this.#marks[place] !== 0) return false
    this.#marks[place] = 2
    return true
  }

  tell(id: number, text = ''): void {
    const place = id - this.firstId
    // One between two others may have been told before.
    if (this.#marks[place] !== 1) {
      this.#count++
      this.characters += text.length
    }
    this.#marks[place] = 1
  }
}

/** The ids in records that are to be told, ascending. */
function newIds(told: Told, data: DataView, recordBytes: number, offsets: readonly number[]): number[] {
  const ids: number[] = []
  if (told.isWhole) return ids
  for (const offset of offsets) {
    for (let at = offset; at < data.byteLength; at += recordBytes) {
      const id = data.getUint32(at, true)
      if (told.wants(id)) ids.push(id)
    }
  }
  return ids.sort((a, b) => a - b)
}

/** First and last of the stretches that ids form. */
function runsOf(ids: readonly number[]): [first: number, last: number][] {
  const runs: [number, number][] = []
  for (const id of ids.toSorted((a, b) => a - b)) {
    const run = runs.at(-1)
    if (run !== undefined && id - run[1] <= GAP_COUNT && id - run[0] < ITEM_COUNT_LIMIT) run[1] = id
    else runs.push([id, id])
  }
  return runs
}
