import type { RecordType } from '../../schema/record-type.ts'
import type { Symbols } from '../../schema/symbols.ts'
import { encodeSymbolsBlock } from '../../wire/dtb/encode.ts'
import { BLOCK_HEADER_BYTES } from '../../wire/dtb/format.ts'

/** Texts between two that are needed are told along with them up to this many: another block would take more. */
const GAP_COUNT = 4
/** Texts that one block takes. */
const BLOCK_COUNT_LIMIT = 4096

/** The text of a full table of symbols. */
const OVERFLOW_ID = 1

/** Where the symbols of a type's records lie. */
const offsetsOf = new WeakMap<RecordType, readonly number[]>()

/** Which texts a file has been told. Only those that its records use: a source may have many more, and every file is whole in itself. */
export class ToldSymbols {
  readonly #symbols: Symbols
  /** 1 where the text of an id was told. The empty text needs no telling. */
  #told = new Uint8Array(64).fill(1, 0, 1)
  #toldCount = 1
  #characters = 0

  constructor(symbols: Symbols) {
    this.#symbols = symbols
  }

  /** Characters of all that it was told. */
  get characters(): number {
    return this.#characters
  }

  /** Blocks of the texts that the records of a block use and that the file lacks. They are taken to be written. */
  before(type: RecordType, block: Uint8Array, count: number): Uint8Array[] {
    const offsets = symbolOffsets(type)
    const known = this.#symbols.count
    if (offsets.length === 0 || this.#toldCount === known) return []
    if (this.#told.length < known) this.#grow(known)
    const ids = newIds(this.#told, known, block, count, type.layout.recordBytes, offsets)
    if (ids.length === 0) return []
    // Seldom used, but without it a file would never have been told all, and every record would have to be looked at.
    if (this.#told[OVERFLOW_ID] === 0 && OVERFLOW_ID < known) ids.push(OVERFLOW_ID)
    return runsOf(ids.sort((a, b) => a - b)).map((run) => this.#tell(run))
  }

  #tell([first, last]: readonly [number, number]): Uint8Array {
    const texts: string[] = []
    for (let id = first; id <= last; id++) {
      const text = this.#symbols.text(id)
      texts.push(text)
      // One between two others may have been told before.
      if (this.#told[id] !== 1) {
        this.#toldCount++
        this.#characters += text.length
      }
      this.#told[id] = 1
    }
    return encodeSymbolsBlock(first, texts)
  }

  #grow(count: number): void {
    const told = new Uint8Array(2 ** Math.ceil(Math.log2(count)))
    told.set(this.#told)
    this.#told = told
  }
}

function symbolOffsets(type: RecordType): readonly number[] {
  let offsets = offsetsOf.get(type)
  if (offsets === undefined) {
    offsets = type.layout.slots.filter(({ field }) => field.kind === 'symbol').map(({ offset }) => offset)
    offsetsOf.set(type, offsets)
  }
  return offsets
}

/** The ids in records that were not told; each is marked, so that none is there twice. Bytes from elsewhere may hold ids that are none. */
function newIds(
  told: Uint8Array,
  known: number,
  block: Uint8Array,
  count: number,
  recordBytes: number,
  offsets: readonly number[],
): number[] {
  const data = new DataView(block.buffer, block.byteOffset, block.byteLength)
  const ids: number[] = []
  for (const offset of offsets) {
    let at = BLOCK_HEADER_BYTES + offset
    for (let record = 0; record < count; record++, at += recordBytes) {
      const id = data.getUint32(at, true)
      if (id >= known || told[id] !== 0) continue
      told[id] = 2
      ids.push(id)
    }
  }
  return ids
}

/** First and last of the stretches that ascending ids form. */
function runsOf(ids: readonly number[]): [first: number, last: number][] {
  const runs: [number, number][] = []
  for (const id of ids) {
    const run = runs.at(-1)
    if (run !== undefined && id - run[1] <= GAP_COUNT && id - run[0] < BLOCK_COUNT_LIMIT) run[1] = id
    else runs.push([id, id])
  }
  return runs
}
