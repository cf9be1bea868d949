import type { Batch, BatchSymbols } from '@sonde/sdk'
import type { LinkMessage } from './protocol.ts'

/** Texts of one message at most: with the longest ones it stays within what the agent takes. */
const SYMBOL_COUNT_MAX = 1000
/** Symbols that every table begins with. */
const FIRST_SYMBOL = 2

/** Tells the agent the records of one source, and before them what their numbers mean. */
export class LinkOut {
  readonly #source: string
  readonly #send: (message: LinkMessage) => void
  /** Labels that the agent knows. */
  #announced = FIRST_SYMBOL
  /** The table of texts that it knows, and up to which id. */
  #table: BatchSymbols | undefined
  #nextTextId = 0

  constructor(source: string, send: (message: LinkMessage) => void) {
    this.#source = source
    this.#send = send
  }

  /** @param window Id of the window that it is a piece of; left out where it is none. */
  put({ type, source: { symbols }, clock, count, bytes, symbols: texts }: Batch, window?: number): void {
    const source = this.#source
    if (symbols.count > this.#announced) {
      const labels = symbols.since(this.#announced)
      for (let at = 0; at < labels.length; at += SYMBOL_COUNT_MAX)
        this.#send({ kind: 'symbols', source, texts: labels.slice(at, at + SYMBOL_COUNT_MAX) })
      this.#announced = symbols.count
    }
    this.#tellTexts(texts)
    const ofWindow = window === undefined ? {} : { window }
    // Sending serialises at once, but a worker's message is cloned: both leave the buffer free for the next batch.
    this.#send({ kind: 'batch', source, type: type.fingerprint, clock, count, bytes: bytes.slice(), ...ofWindow })
  }

  #tellTexts(symbols: BatchSymbols): void {
    const { firstTextId, nextTextId } = symbols
    if (nextTextId === firstTextId) return
    const begins = symbols !== this.#table
    const firstId = begins ? firstTextId : this.#nextTextId
    if (nextTextId === firstId) return
    this.#send({ kind: 'texts', source: this.#source, begins, firstId, texts: symbols.textsFrom(firstId) })
    this.#table = symbols
    this.#nextTextId = nextTextId
  }
}
