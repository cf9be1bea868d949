import { SondeError, type Symbols } from '@sonde/sdk'

/** What a text takes beside its characters. Unit: bytes. */
const TEXT_BYTES = 48

/** A client's texts, as it announces them. An id that it never announced reads as `?<id>`. */
export class ClientSymbols implements Symbols {
  readonly #texts: string[] = []

  get count(): number {
    return this.#texts.length
  }

  text(id: number): string {
    return this.#texts[id] ?? `?${id}`
  }

  since(id: number): readonly string[] {
    return this.#texts.slice(id)
  }

  /**
   * Takes the next texts. Gives the memory that they need. Unit: bytes.
   *
   * @throws SondeError `IPC_FRAME` where they do not continue what is known.
   */
  announce(firstId: number, texts: readonly string[]): number {
    if (firstId !== this.#texts.length) {
      throw new SondeError('IPC_FRAME', `symbols begin at ${firstId}; allowed: ${this.#texts.length}, the next one`)
    }
    let bytes = 0
    for (const text of texts) {
      this.#texts.push(text)
      bytes += TEXT_BYTES + 2 * text.length
    }
    return bytes
  }
}
