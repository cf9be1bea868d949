import type { LeftOutStretch } from '@sonde/sdk/api'
import { isJsonObject, turn } from '@sonde/sdk/internal'
import type { IndexSignal, KeptBlock, KeptPart } from './kept-index.ts'
import type { PackedSeries } from './pack-index.ts'

/** A line beyond this length is continued by another. Unit: characters. */
const LINE_CHARS = 32 << 10
/** Longest line that is read. A longer line would block the loop. The definition of a type is one item. Unit: bytes. */
const LINE_BYTES_MAX = 512 << 10

/** Writes a note: one JSON object per line. Several lines may continue one list. */
export class NoteLines {
  readonly #lines: Uint8Array[] = []

  /** One line. */
  add(line: object): void {
    this.#lines.push(Buffer.from(`${JSON.stringify(line)}\n`))
  }

  /** Adds a list over as many lines as needed. Yields to the loop. */
  async addList<T>(name: string, items: Iterable<T>, pack: (item: T) => unknown = (item) => item): Promise<void> {
    let texts: string[] = []
    let chars = 0
    const end = () => this.#lines.push(Buffer.from(`{${JSON.stringify(name)}:[${texts.join(',')}]}\n`))
    for (const item of items) {
      const text = JSON.stringify(pack(item))
      if (chars > 0 && chars + text.length > LINE_CHARS) {
        end()
        texts = []
        chars = 0
      }
      texts.push(text)
      chars += text.length
      if (turn.isOver()) await turn.next()
    }
    end()
  }

  bytes(): Uint8Array {
    return Buffer.concat(this.#lines)
  }
}

/** Collects the lists of a note from its lines, without checking their items. */
export class NoteLists {
  readonly parts: KeptPart[] = []
  readonly blocks: KeptBlock[] = []
  readonly texts: string[] = []
  readonly series: PackedSeries[] = []
  readonly listed: IndexSignal[] = []
  readonly leftOut: LeftOutStretch[] = []
  signal: IndexSignal | undefined
  baseMs = Number.NaN

  /** Takes a line. Returns the fault, or undefined. */
  take(line: Uint8Array): string | undefined {
    if (line.byteLength > LINE_BYTES_MAX) return `has a line of ${line.byteLength} bytes`
    const given = lineObject(line)
    if (given === undefined) return 'has a line that is not a JSON object'
    const { parts, blocks, texts, series, listed, leftOut } = this
    for (const [name, items] of Object.entries({ parts, blocks, texts, series, listed, leftOut })) {
      const more = given[name] ?? []
      if (!Array.isArray(more)) return 'has no lists'
      for (const item of more) (items as unknown[]).push(item)
    }
    if (typeof given.baseMs === 'number') this.baseMs = given.baseMs
    if (given.signal !== undefined) this.signal = given.signal as IndexSignal
    return undefined
  }
}

/** Parses a line as an object; undefined if it is not an object. */
export function lineObject(line: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const text = Buffer.from(line.buffer, line.byteOffset, line.byteLength).toString()
    const given: unknown = JSON.parse(text)
    if (isJsonObject(given)) return given
  } catch {
    // The caller reports the fault.
  }
  return undefined
}
