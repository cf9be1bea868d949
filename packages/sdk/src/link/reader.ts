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

/** A type that was taken, with the memory that it takes (unit: bytes), or why its records are dropped. */
export type TakenType = { readonly type: RecordType; readonly bytes: number } | string

/** What a {@link LinkReader} is made of. */
export interface LinkReaderOptions {
  readonly limits: LinkLimits
  readonly codes: LinkCodes
  /** Where its batches come from. */
  readonly origin: Origin
  /** The type of a definition. Default: any that holds. */
  readonly typeOf?: (definition: unknown, fingerprint: string) => TakenType
  /**
   * Told whenever it keeps more or less, so that links can share a limit; throws where there is no room. Units: bytes.
   * Default: there is room up to the limit.
   */
  readonly hold?: (beforeBytes: number, afterBytes: number) => void
  /** The source as batches name it. Default: as it was told. */
  readonly infoOf?: (told: LinkSource) => LinkSource
  /** Whose series a source goes on with that replaces none of this link. Default: nobody's. */
  readonly ownerOf?: (told: LinkSource) => object | undefined
}

/** A source as it was told. */
export interface ReadSource {
  readonly info: SourceInfo
  readonly texts: PrefixTexts
  /** What is kept of it. Unit: bytes. */
  bytes: number
}

/**
 * The far end of a link: checks every item, keeps what batches refer to within the limits, and gives batches back.
 * Nothing that comes is believed.
 */
export class LinkReader {
  /** What is kept. Unit: bytes. */
  heldBytes = 0
  readonly #options: LinkReaderOptions
  readonly #types = new Map<number, RecordType | string>()
  readonly #sources = new Map<number, ReadSource>()
  /** Labels that count towards the limit. */
  #symbolCount = 0

  constructor(options: LinkReaderOptions) {
    this.#options = options
  }

  /** The sources that were told. */
  get sources(): SourceInfo[] {
    return Array.from(this.#sources.values(), ({ info }) => info)
  }

  /** Names of the types that are taken. */
  get typeNames(): string[] {
    return [...new Set([...this.#types.values()].flatMap((type) => (typeof type === 'string' ? [] : type.name)))]
  }

  /** Types by their keys, those that are not taken left out. */
  get types(): ReadonlyMap<number, RecordType> {
    return new Map([...this.#types].filter((entry): entry is [number, RecordType] => typeof entry[1] !== 'string'))
  }

  /**
   * Takes an item. Gives its records where it is a batch, or why these are dropped.
   *
   * @throws SondeError of the codes of its transport where the item may not come, or goes beyond a limit; what `typeOf`
   * says of a definition.
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
   * A type, or why its records are dropped.
   *
   * @throws SondeError if it was not told.
   */
  type(key: number): RecordType | string {
    const type = this.#types.get(key)
    if (type === undefined) throw this.#wrong(`type ${key} was not announced`, 'one that was')
    return type
  }

  /** @throws SondeError if it was not told. */
  source(key: number): ReadSource {
    const source = this.#sources.get(key)
    if (source === undefined) throw this.#wrong(`source ${key} was not announced`, 'one that was')
    return source
  }

  /** The link is over: its memory is given back. */
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

  /** What still refers to its tables keeps them. */
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
 * The first labels of a source are its own, with which it reports losses; texts of text fields are bounded by their
 * memory, and replaced.
 */
function countedOf(firstId: number, endId: number): number {
  return firstId >= TEXT_ID_MIN ? 0 : Math.max(0, endId - Math.max(firstId, SYMBOLS_OF_SOURCE))
}

function anyType(definition: unknown, fingerprint: string): TakenType {
  const type = parseDefinition(definition, fingerprint)
  checkLabels(type)
  return { type, bytes: typeBytes(type.layout.slots.length, type.description.length) }
}
