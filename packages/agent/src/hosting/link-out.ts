import type { Batch, RecordType, SourceInfo } from '@sonde/sdk'
import { AnnouncedSource, definitionOf } from '@sonde/sdk/internal'
import { LinkTypes } from './link-types.ts'
import type { LinkMessage } from './protocol.ts'

/** Limit of texts of one message: with the longest texts, the message stays within the limit of the agent. */
const SYMBOL_COUNT_MAX = 1000

/** Sends the records of one source to the agent, and announces their symbols first. */
export class LinkOut {
  readonly #source: string
  readonly #send: (message: LinkMessage) => void
  /** The symbols that the agent knows of the source, and their table of labels. */
  #info: SourceInfo | undefined
  #announced = new AnnouncedSource(0)
  readonly #types: LinkTypes

  /** @param types Types that the source declares. */
  constructor(source: string, types: readonly RecordType[], send: (message: LinkMessage) => void) {
    this.#source = source
    this.#types = new LinkTypes(types)
    this.#send = send
  }

  /** @param window Id of the window that it is a piece of; left out where it is none. */
  put({ type, source: info, clock, count, bytes, symbols }: Batch, window?: number): void {
    const source = this.#source
    if (info !== this.#info) {
      this.#info = info
      this.#announced = new AnnouncedSource(0)
      this.#send({ kind: 'labels', source, labels: info.labels })
    }
    if (!this.#types.has(type)) {
      this.#types.add(type)
      this.#send({ kind: 'type', source, fingerprint: type.fingerprint, definition: definitionOf(type) })
    }
    for (const { firstId, texts } of this.#announced.labelItems(info.symbols, SYMBOL_COUNT_MAX))
      this.#send({ kind: 'symbols', source, firstId, texts })
    for (const { firstId, texts } of this.#announced.textItems(symbols, SYMBOL_COUNT_MAX))
      this.#send({ kind: 'symbols', source, firstId, texts })
    const ofWindow = window === undefined ? {} : { window }
    // Sending serialises at once, but a worker's message is cloned: both leave the buffer free for the next batch.
    this.#send({ kind: 'batch', source, type: type.fingerprint, clock, count, bytes: bytes.slice(), ...ofWindow })
  }
}
