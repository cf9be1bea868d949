import { SondeError } from '../errors.ts'
import type { Batch, Origin, SourceInfo } from '../schema/batch.ts'
import { checkLabels, isOwnLabel } from '../schema/label-rules.ts'
import { parseDefinition } from '../schema/parse-definition.ts'
import type { RecordType } from '../schema/record-type.ts'
import { faultOfSource } from '../schema/source-rules.ts'
import { TEXT_ID_MIN } from '../schema/texts.ts'
import { type LinkCodes, wrongItem } from './codes.ts'
import {
  type BatchItem,
  type LinkItem,
  type LinkLimits,
  type LinkSource,
  type SourceItem,
  SYMBOLS_OF_SOURCE,
  type SymbolsItem,
  type TypeItem,
} from './item.ts'
import { sourceBytes, typeBytes } from './memory.ts'
import { PrefixTexts } from './prefix-texts.ts'

/** An accepted type with its memory (unit: bytes), or the reason for which its records are dropped. */
export type TakenType = { readonly type: RecordType; readonly bytes: number } | string

/** Options of a {@link LinkReader}. */
export interface LinkReaderOptions {
  readonly limits: LinkLimits
  readonly codes: LinkCodes
  /** The origin of its batches. */
  readonly origin: Origin
  /** Finds or makes the type of a definition. Default: every valid definition is accepted. */
  readonly typeOf?: (definition: unknown, fingerprint: string) => TakenType
  /**
   * Called when the memory in use changes, so that links can share a budget; throws if the budget is used up. Units:
   * bytes. Default: only the limit of this link holds.
   */
  readonly hold?: (beforeBytes: number, afterBytes: number) => void
  /** The identity of a source in batches. Default: as announced. */
  readonly infoOf?: (announced: LinkSource) => LinkSource
  /** The owner whose series a source continues if it replaces no source of this link. Default: a new owner. */
  readonly ownerOf?: (announced: LinkSource) => object | undefined
}

/** An announced source. */
export interface ReadSource {
  readonly info: SourceInfo
  readonly texts: PrefixTexts
  /** Memory in use for it. Unit: bytes. */
  bytes: number
}

/**
 * The reading end of a link: checks every item, keeps announced types, sources and symbols within the limits, and
 * returns batches. It trusts no item.
 */
export class LinkReader {
  /** Memory in use. Unit: bytes. */
  heldBytes = 0
  readonly #options: LinkReaderOptions
  readonly #types = new Map<number, RecordType | string>()
  readonly #sources = new Map<number, ReadSource>()
  /** Labels that count towards the limit. */
  #symbolCount = 0

  constructor(options: LinkReaderOptions) {
    this.#options = options
  }

  /** The announced sources. */
  get sources(): SourceInfo[] {
    return Array.from(this.#sources.values(), ({ info }) => info)
  }

  /** Names of the accepted types. */
  get typeNames(): string[] {
    return [...new Set([...this.#types.values()].flatMap((type) => (typeof type === 'string' ? [] : type.name)))]
  }

  /** The accepted types by their keys. */
  get types(): ReadonlyMap<number, RecordType> {
    return new Map([...this.#types].filter((entry): entry is [number, RecordType] => typeof entry[1] !== 'string'))
  }

  /**
   * Reads an item.
   *
   * @returns The records of a batch, or the reason for which they are dropped; undefined for any other item.
   * @throws SondeError with a code of its transport if the item is not allowed here or exceeds a limit; the errors of
   * `typeOf`.
   */
  take(item: LinkItem): Batch | string | undefined {
    switch (item.kind) {
      case 'type':
        this.#takeType(item)
        return undefined
      case 'source':
        this.#takeSource(item)
        return undefined
      case 'symbols':
        this.#takeSymbols(item)
        return undefined
      case 'gone':
        this.#forget(item.source)
        return undefined
      case 'batch':
        return this.#batchOf(item)
    }
  }

  /**
   * A type, or the reason for which its records are dropped.
   *
   * @throws SondeError if the type was not announced.
   */
  type(key: number): RecordType | string {
    const type = this.#types.get(key)
    if (type === undefined) throw this.#wrong(`type ${key} was not announced`, 'an announced type')
    return type
  }

  /** @throws SondeError if the source was not announced. */
  source(key: number): ReadSource {
    const source = this.#sources.get(key)
    if (source === undefined) throw this.#wrong(`source ${key} was not announced`, 'an announced source')
    return source
  }

  /** The link has ended: returns its memory to the shared budget. */
  close(): void {
    this.#options.hold?.(this.heldBytes, 0)
    this.heldBytes = 0
  }

  #takeType({ key, fingerprint, definition }: TypeItem): void {
    const { types } = this.#options.limits
    if (this.#types.has(key)) throw this.#wrong(`type ${key} came twice`, 'once')
    if (this.#types.size >= types) throw this.#tooMany('types', types)
    const taken = (this.#options.typeOf ?? anyType)(definition, fingerprint)
    if (typeof taken === 'string') {
      this.#types.set(key, taken)
      return
    }
    this.#types.set(key, taken.type)
    this.#hold(taken.bytes)
  }

  #takeSource({ key, info: given, replaces }: SourceItem): void {
    const { infoOf, ownerOf, limits, codes } = this.#options
    const { sources } = limits
    if (this.#sources.has(key)) throw this.#wrong(`source ${key} came twice`, 'once')
    const fault = faultOfSource(given)
    if (fault !== undefined) throw this.#wrong(`source ${key} has a wrong ${fault.place}`, fault.allowed)
    for (const name of Object.keys(given.labels)) {
      if (isOwnLabel(name)) throw this.#wrong(`label ${name} of source ${given.id}`, "none of Sonde's own")
    }
    const before = replaces === undefined ? undefined : this.source(replaces).info
    if (replaces !== undefined) this.#forget(replaces)
    if (this.#sources.size >= sources) throw this.#tooMany('sources', sources)
    const bytes = sourceBytes(given)
    this.#hold(bytes)
    const texts = new PrefixTexts(codes)
    const owner = before?.owner ?? ownerOf?.(given) ?? {}
    const { id, tag, labels } = infoOf?.(given) ?? given
    this.#sources.set(key, { info: { id, tag, labels, symbols: texts, owner }, texts, bytes })
  }

  #takeSymbols({ source: key, firstId, texts }: SymbolsItem): void {
    const source = this.source(key)
    const { symbols } = this.#options.limits
    this.#symbolCount += countedOf(firstId, firstId + texts.length)
    if (this.#symbolCount > symbols) throw this.#tooMany('symbols', symbols)
    const bytes = source.texts.take(firstId, texts)
    this.#hold(bytes)
    source.bytes += bytes
  }

  /** Batches that still refer to the tables of the source keep them. */
  #forget(key: number): void {
    const { texts, bytes } = this.source(key)
    this.#sources.delete(key)
    this.#symbolCount -= countedOf(0, texts.count)
    this.#hold(-bytes)
  }

  #batchOf({ type: typeKey, source: sourceKey, clock, count, bytes, page }: BatchItem): Batch | string {
    const type = this.type(typeKey)
    const { info, texts } = this.source(sourceKey)
    if (typeof type === 'string') return type
    if (count === 0 || bytes.byteLength !== count * type.layout.recordBytes) return 'wrong_size'
    const { origin } = this.#options
    const batch = { type, source: info, clock, count, bytes, symbols: texts.ofBatches, origin }
    return { ...batch, arrivedMs: performance.now(), ...(page !== undefined && { page }) }
  }

  #hold(bytes: number): void {
    const { limits, hold } = this.#options
    const afterBytes = this.heldBytes + bytes
    if (afterBytes > limits.bytes) throw this.#tooMany('bytes of types, sources and symbols', limits.bytes)
    hold?.(this.heldBytes, afterBytes)
    this.heldBytes = afterBytes
  }

  #wrong(found: string, allowed: string): SondeError {
    return wrongItem(this.#options.codes, found, allowed)
  }

  #tooMany(what: string, limit: number): SondeError {
    return new SondeError(this.#options.codes.limit, `more than ${limit} ${what}; use fewer`)
  }
}

/**
 * The number of symbols that count towards the limit: not the first of a source, which report losses, and no texts of
 * text fields, whose memory is limited.
 */
function countedOf(firstId: number, endId: number): number {
  return firstId >= TEXT_ID_MIN ? 0 : Math.max(0, endId - Math.max(firstId, SYMBOLS_OF_SOURCE))
}

function anyType(definition: unknown, fingerprint: string): TakenType {
  const type = parseDefinition(definition, fingerprint)
  checkLabels(type)
  return { type, bytes: typeBytes(type.layout.slots.length, type.description.length) }
}
