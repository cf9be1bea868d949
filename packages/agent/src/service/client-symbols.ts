import { SondeError, type Symbols } from '@sonde/sdk'
import { TEXT_ID_MIN, TextTable, textBytes } from '@sonde/sdk/internal'

/** A client's texts, as it announces them. An id that it never announced reads as `?<id>`. */
export class ClientSymbols implements Symbols {
  readonly #texts: string[] = []
  /** The longest text so far. Unit: characters. */
  longest = 0
  /** What pages refer to from now on. */
  ofPages = new TextTable(this)

  get count(): number {
    return this.#texts.length
  }

  text(id: number): string {
    return this.#texts[id] ?? `?${id}`
  }

  since(id: number, countMax = Number.POSITIVE_INFINITY): readonly string[] {
    return this.#texts.slice(id, id + countMax)
  }

  /**
   * Takes the next labels, or texts; a table of texts that begins replaces the one before. Gives the memory that they
   * need, less that of what is forgotten. Unit: bytes.
   *
   * @throws SondeError `IPC_FRAME` where they do not continue what is known.
   */
  announce(firstId: number, texts: readonly string[]): number {
    if (firstId >= TEXT_ID_MIN) return this.#announceTexts(firstId, texts)
    checkNext(firstId, this.#texts.length)
    let bytes = 0
    for (const text of texts) {
      this.#texts.push(text)
      this.longest = Math.max(this.longest, text.length)
      bytes += textBytes(text)
    }
    return bytes
  }

  #announceTexts(firstId: number, texts: readonly string[]): number {
    const before = this.ofPages.textBytes
    if (texts.length === 0) this.ofPages = new TextTable(this, firstId)
    checkNext(firstId, this.ofPages.nextTextId)
    for (const text of texts) {
      this.ofPages.add(text)
      this.longest = Math.max(this.longest, text.length)
    }
    return this.ofPages.textBytes - before
  }
}

function checkNext(firstId: number, nextId: number): void {
  if (firstId === nextId) return
  throw new SondeError('IPC_FRAME', `symbols begin at ${firstId}; allowed: ${nextId}, the next one`)
}
