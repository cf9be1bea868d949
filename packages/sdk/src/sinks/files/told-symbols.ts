import type { RecordType } from '../../schema/record-type.ts'
import type { Symbols } from '../../schema/symbols.ts'
import { encodeSymbolsBlock } from '../../wire/dtb/encode.ts'
import { BLOCK_HEADER_BYTES } from '../../wire/dtb/format.ts'

/** Texts between two that are needed are told along with them up to this many: another block would take more. */
const GAP_COUNT = 4
/** Texts that one block takes. */
const BLOCK_COUNT_LIMIT = 4096

/** Which texts a file has been told. Only those that its records use: a source may have many more, and every file is whole in itself. */
export class ToldSymbols {
  readonly #symbols: Symbols
  /** 1 where the text of an id was told. */
  #told = new Uint8Array(64)

  constructor(symbols: Symbols) {
    this.#symbols = symbols
  }

  /** Blocks of the texts that the records of a block use and that the file lacks. They are taken to be written. */
  before(type: RecordType, block: Uint8Array, count: number): Uint8Array[] {
    const offsets = type.layout.slots.filter(({ field }) => field.kind === 'symbol').map(({ offset }) => offset)
    if (offsets.length === 0) return []
    if (this.#told.length < this.#symbols.count) this.#grow()
    const ids = newIds(this.#told, this.#symbols.count, block, count, type.layout.recordBytes, offsets)
    if (ids.length === 0) return []
    return runsOf(ids.sort((a, b) => a - b)).map(([first, last]) => {
      const texts = Array.from({ length: last - first + 1 }, (_, i) => this.#symbols.text(first + i))
      this.#told.fill(1, first, last + 1)
      return encodeSymbolsBlock(first, texts)
    })
  }

  #grow(): void {
    const told = new Uint8Array(2 ** Math.ceil(Math.log2(this.#symbols.count)))
    told.set(this.#told)
    this.#told = told
  }
}

/** The ids in records that were not told; each is marked. The empty text needs no telling, and bytes from elsewhere may hold ids that are none. */
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
      if (id === 0 || id >= known || told[id] === 1) continue
      told[id] = 1
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
