import { type BatchSymbols, type RecordType, SondeError, type SourceInfo } from '@sonde/sdk'
import {
  applicationLabels,
  isOwnLabel,
  type SourceEntry,
  SYMBOLS_OF_SOURCE,
  type SymbolsEntry,
  sourceBytes,
  TEXT_ID_MIN,
  type TypeEntry,
} from '@sonde/sdk/internal'
import { ClientSymbols } from './client-symbols.ts'
import { SOURCE_COUNT, SYMBOL_COUNT, TYPE_COUNT } from './config.ts'
import type { HeldMemory } from './held-memory.ts'
import type { TypeRefusal, TypeShare } from './known-types.ts'

interface AnnouncedSource {
  readonly info: SourceInfo
  readonly symbols: ClientSymbols
}

/** What a client announced in one connection: types, sources and their texts, by the indexes of its pages. */
export class Announced {
  /** What is kept of it. Unit: bytes. */
  heldBytes = 0
  readonly #share: TypeShare
  readonly #memory: HeldMemory
  readonly #heldBytesMax: number
  readonly #types = new Map<number, RecordType | TypeRefusal>()
  readonly #sources = new Map<number, AnnouncedSource>()
  #symbolCount = 0

  /** @param heldBytesMax Memory for types, sources and symbols of this client. Unit: bytes. */
  constructor(share: TypeShare, memory: HeldMemory, heldBytesMax: number) {
    this.#share = share
    this.#memory = memory
    this.#heldBytesMax = heldBytesMax
  }

  get sources(): SourceInfo[] {
    return [...this.#sources.values()].map(({ info }) => info)
  }

  /** Names of the types that are taken. */
  get typeNames(): string[] {
    return [...new Set([...this.#types.values()].flatMap((type) => (typeof type === 'string' ? [] : type.name)))]
  }

  /** @throws SondeError `IPC_FRAME`, `IPC_LIMIT`, or what {@link TypeShare} says of a definition. */
  addType({ index, fingerprint, definition }: TypeEntry): void {
    if (this.#types.has(index)) throw wrong(`type ${index} came twice`, 'once')
    if (this.#types.size >= TYPE_COUNT) throw tooMany('types', TYPE_COUNT)
    const taken = this.#share.take(definition, fingerprint)
    if (typeof taken === 'string') {
      this.#types.set(index, taken)
      return
    }
    this.#types.set(index, taken.type)
    this.#hold(taken.bytes)
  }

  /** @throws SondeError `IPC_FRAME`, `IPC_LIMIT`. */
  addSource({ index, id, tag, labels, intervalMs }: SourceEntry): void {
    if (this.#sources.has(index)) throw wrong(`source ${index} came twice`, 'once')
    if (this.#sources.size >= SOURCE_COUNT) throw tooMany('sources', SOURCE_COUNT)
    for (const name of Object.keys(labels)) {
      if (isOwnLabel(name)) throw wrong(`label ${name} of source ${id}`, "none of Sonde's own")
    }
    this.#hold(sourceBytes({ id, tag, labels }))
    const symbols = new ClientSymbols()
    const info = { id, tag, labels: applicationLabels({ id, tag, labels }), intervalMs, symbols }
    this.#sources.set(index, { symbols, info })
  }

  /** @throws SondeError `IPC_FRAME`, `IPC_LIMIT`. */
  addSymbols({ source, firstId, texts }: SymbolsEntry): void {
    // The first of a source are its own, with which it reports losses; texts of text fields are bounded by their
    // memory, and replaced.
    const counted = firstId >= TEXT_ID_MIN ? 0 : Math.min(texts.length, firstId + texts.length - SYMBOLS_OF_SOURCE)
    if (counted > 0) this.#symbolCount += counted
    if (this.#symbolCount > SYMBOL_COUNT) throw tooMany('symbols', SYMBOL_COUNT)
    this.#hold(this.#sourceOf(source).symbols.announce(firstId, texts))
  }

  /**
   * What the records of a source's next page refer to.
   *
   * @throws SondeError `IPC_FRAME` where it was not announced.
   */
  symbols(index: number): BatchSymbols {
    return this.#sourceOf(index).symbols.ofPages
  }

  /** The longest text of a source, of labels and text fields. Unit: characters. */
  longestText(index: number): number {
    return this.#sourceOf(index).symbols.longest
  }

  /** @throws SondeError `IPC_FRAME` where it was not announced. */
  source(index: number): SourceInfo {
    return this.#sourceOf(index).info
  }

  /**
   * A type, or why its records are dropped.
   *
   * @throws SondeError `IPC_FRAME` where it was not announced.
   */
  type(index: number): RecordType | TypeRefusal {
    const type = this.#types.get(index)
    if (type === undefined) throw wrong(`type ${index} was not announced`, 'one that was')
    return type
  }

  /** The connection is over: types and memory are given back. */
  close(): void {
    this.#share.close()
    this.#memory.change(this.heldBytes, 0)
    this.heldBytes = 0
  }

  #sourceOf(index: number): AnnouncedSource {
    const source = this.#sources.get(index)
    if (source === undefined) throw wrong(`source ${index} was not announced`, 'one that was')
    return source
  }

  #hold(bytes: number): void {
    const afterBytes = this.heldBytes + bytes
    if (afterBytes > this.#heldBytesMax) throw tooMany('bytes of types, sources and symbols', this.#heldBytesMax)
    if (!this.#memory.change(this.heldBytes, afterBytes)) {
      throw new SondeError(
        'IPC_LIMIT',
        'types, sources and symbols of all clients take as much memory as they may; use fewer, or raise service.total_bytes',
      )
    }
    this.heldBytes = afterBytes
  }
}

/** A client that does not keep to the protocol. */
export function wrong(found: string, allowed: string): SondeError {
  return new SondeError('IPC_FRAME', `${found}; allowed: ${allowed}`)
}

function tooMany(what: string, limit: number): SondeError {
  return new SondeError('IPC_LIMIT', `more than ${limit} ${what} of one client; use fewer`)
}
