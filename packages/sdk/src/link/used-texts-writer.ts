import type { Batch } from '../schema/batch.ts'
import { OWN_SYMBOL_COUNT, type Symbols } from '../schema/symbols.ts'
import { type BatchSymbols, TEXT_ID_MIN } from '../schema/texts.ts'
import type { SymbolsItem } from './item.ts'
import { symbolOffsets } from './symbol-offsets.ts'

/** A gap of up to this many unused ids is announced along: another item would take more bytes. */
const GAP_COUNT = 4
/** Texts of one item at most. */
const ITEM_COUNT_LIMIT = 4096

/** Records, and the offset at which they start in `bytes`. */
export interface UsedRecords extends Pick<Batch, 'type' | 'count' | 'symbols' | 'bytes'> {
  /** Unit: bytes. Default: 0. */
  readonly offset?: number
}

/**
 * Announces only the texts of a source that its records use: a source may have many more texts, and each file must be
 * readable alone.
 */
export class UsedTextsWriter {
  readonly #source: number
  readonly #symbols: Symbols
  readonly #labels = new AnnouncedIds(0)
  /** The current table of texts, and its announced ids. */
  #table: BatchSymbols | undefined
  #texts = new AnnouncedIds(TEXT_ID_MIN)
  #isBegun = false

  /** @param source The number of the source in items. */
  constructor(source: number, symbols: Symbols) {
    this.#source = source
    this.#symbols = symbols
    // Readers know the empty text.
    this.#labels.add(0)
  }

  /** Characters of all texts that a reader must keep. */
  get characters(): number {
    return this.#labels.characters + this.#texts.characters
  }

  /** Announces the texts of records that the reader does not know yet. */
  announce({ type, bytes, offset = 0, count, symbols }: UsedRecords, out: (item: SymbolsItem) => void): void {
    const { offsets, hasTexts } = symbolOffsets(type)
    if (hasTexts && symbols !== this.#table) this.#replace(symbols)
    this.#labels.grow(this.#symbols.count)
    if (hasTexts) this.#texts.grow(symbols.nextTextId)
    if (this.#labels.isWhole && (!hasTexts || this.#texts.isWhole)) return
    const data = new DataView(bytes.buffer, bytes.byteOffset + offset, count * type.layout.recordBytes)
    const newLabels = newIds(this.#labels, data, type.layout.recordBytes, offsets)
    // Seldom used. But without these, the table would never be whole, and every later record would have to be read.
    for (let id = 1; newLabels.length > 0 && id < OWN_SYMBOL_COUNT; id++) if (this.#labels.claim(id)) newLabels.push(id)
    const newTexts = hasTexts ? newIds(this.#texts, data, type.layout.recordBytes, offsets) : []
    for (const run of runsOf(newLabels)) out(this.#item(this.#labels, run, this.#symbols))
    if (newTexts.length > 0 && !this.#isBegun) {
      out({ kind: 'symbols', source: this.#source, firstId: symbols.firstTextId, texts: [] })
      this.#isBegun = true
    }
    for (const run of runsOf(newTexts)) out(this.#item(this.#texts, run, symbols))
  }

  /** Starts another table of texts: a reader may discard the earlier table. */
  #replace(symbols: BatchSymbols): void {
    this.#table = symbols
    this.#texts = new AnnouncedIds(symbols.firstTextId)
    this.#isBegun = false
  }

  #item(
    announced: AnnouncedIds,
    [firstId, last]: readonly [number, number],
    symbols: Pick<BatchSymbols, 'text'>,
  ): SymbolsItem {
    const texts: string[] = []
    for (let id = firstId; id <= last; id++) {
      const text = symbols.text(id)
      texts.push(text)
      announced.add(id, text)
    }
    return { kind: 'symbols', source: this.#source, firstId, texts }
  }
}

/** The announced ids of one table, which starts at `firstId`. */
class AnnouncedIds {
  readonly firstId: number
  /** Number of ids in the table. */
  #known = 0
  #count = 0
  characters = 0
  /** 1: announced; 2: in the next item. */
  #marks = new Uint8Array(64)

  constructor(firstId: number) {
    this.firstId = firstId
  }

  get isWhole(): boolean {
    return this.#count >= this.#known
  }

  /** The table has grown to the ids below `nextId`. */
  grow(nextId: number): void {
    this.#known = nextId - this.firstId
    if (this.#marks.length >= this.#known) return
    const marks = new Uint8Array(2 ** Math.ceil(Math.log2(this.#known)))
    marks.set(this.#marks)
    this.#marks = marks
  }

  /** Whether an id must be announced. True once an id. Bytes of strangers may hold ids that do not exist. */
  claim(id: number): boolean {
    const place = id - this.firstId
    if (place < 0 || place >= this.#known || this.#marks[place] !== 0) return false
    this.#marks[place] = 2
    return true
  }

  add(id: number, text = ''): void {
    const place = id - this.firstId
    // An id within a gap may have been announced before.
    if (this.#marks[place] !== 1) {
      this.#count++
      this.characters += text.length
    }
    this.#marks[place] = 1
  }
}

/** The ids in records that must be announced, ascending. */
function newIds(announced: AnnouncedIds, data: DataView, recordBytes: number, offsets: readonly number[]): number[] {
  const ids: number[] = []
  if (announced.isWhole) return ids
  for (const offset of offsets) {
    for (let at = offset; at < data.byteLength; at += recordBytes) {
      const id = data.getUint32(at, true)
      if (announced.claim(id)) ids.push(id)
    }
  }
  return ids.sort((a, b) => a - b)
}

/** Joins ids to runs of first and last id. */
function runsOf(ids: readonly number[]): [first: number, last: number][] {
  const runs: [number, number][] = []
  for (const id of ids.toSorted((a, b) => a - b)) {
    const run = runs.at(-1)
    if (run !== undefined && id - run[1] <= GAP_COUNT && id - run[0] < ITEM_COUNT_LIMIT) run[1] = id
    else runs.push([id, id])
  }
  return runs
}
