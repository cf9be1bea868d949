import { messageOf } from '../errors.ts'
import type { Batch, SourceInfo } from '../schema/batch.ts'
import { lossType } from '../schema/builtin.ts'
import { definitionOf } from '../schema/fingerprint.ts'
import { checkLabels, isOwnLabel } from '../schema/label-rules.ts'
import { parseDefinition } from '../schema/parse-definition.ts'
import type { RecordType } from '../schema/record-type.ts'
import { faultOfSource } from '../schema/source-rules.ts'
import {
  type LinkItem,
  type LinkLimits,
  type Refusal,
  SYMBOLS_OF_SOURCE,
  type SymbolsItem,
  TEXT_CHARACTERS_MAX,
} from './item.ts'
import { sourceBytes, textsBytes, typeBytes } from './memory.ts'
import { lastLabelOf } from './symbol-places.ts'
import { ToldSource } from './told-source.ts'

/** Memory, a source and a type that only losses may take: they can always be reported. Unit: bytes. */
const OWN_BYTES = 64 << 10

/** What refers to types, sources and symbols. */
export type Referring = Pick<Batch, 'type' | 'source' | 'symbols' | 'count' | 'bytes'>

/** What a batch calls its type and its source. */
export interface Told {
  readonly type: number
  readonly source: number
}

/** Takes items on their way to the other end. Where it throws a `SondeError`, the item was not told. */
export type TakeItem = (item: LinkItem) => void

/**
 * The near end of a link: knows what the other end was told, and tells it what it lacks, as far as the limits allow.
 * Types and sources have keys in the order of their coming.
 */
export class LinkWriter {
  /** Why something was last `not_announced`, for people; undefined if nothing was. */
  fault: string | undefined
  readonly #limits: LinkLimits
  readonly #types = new Map<string, number>()
  readonly #sources = new Map<SourceInfo, ToldSource>()
  /** The source that last reported the series of an owner. */
  readonly #owners = new Map<object, SourceInfo>()
  #nextSource = 0
  /** Labels that count towards the limit. */
  #symbols = 0
  /** Whether what is told is for a report of losses. */
  #isLoss = false
  /** What the other end needs for all that, roughly. */
  #bytes = 0

  constructor(limits: LinkLimits) {
    this.#limits = limits
  }

  /** Gives what the other end lacks, then the batch, or says why not. */
  put(batch: Batch, out: TakeItem): Refusal | undefined {
    for (;;) {
      const told = this.tell(batch, out)
      if (typeof told === 'string') return told
      if (told === undefined) continue
      const { clock, count, bytes, page } = batch
      out({ kind: 'batch', ...told, clock, count, bytes, ...(page !== undefined && { page }) })
      return undefined
    }
  }

  /**
   * Gives what the other end lacks of what a batch refers to; says what it calls the batch's type and source, or why it
   * cannot be told. Undefined: there was much to tell, and there is more; ask again, perhaps in another turn of the
   * loop.
   */
  tell(batch: Referring, out: TakeItem): Told | Refusal | undefined {
    const { type, source } = batch
    this.#isLoss = type.fingerprint === lossType.fingerprint
    const key = this.#types.get(type.fingerprint) ?? this.#tellType(type, out)
    if (typeof key === 'string') return key
    const told = this.#sources.get(source) ?? this.#tellSource(source, out)
    if (typeof told === 'string') return told
    const refused = this.#tellSymbols(batch, told, out)
    if (refused !== null) return refused
    return { type: key, source: told.key }
  }

  /** The other end knows these types already, by their places in the list. Before anything else is told. */
  knows(types: readonly RecordType[]): void {
    for (const { fingerprint } of types) this.#types.set(fingerprint, this.#types.size)
  }

  /** Tells that a source reports no more. */
  gone(source: SourceInfo, out: TakeItem): void {
    const told = this.#sources.get(source)
    if (told === undefined) return
    this.#forgetSource(source, told)
    this.#owners.delete(source.owner ?? source)
    out({ kind: 'gone', source: told.key })
  }

  /** The other end is another, which knows nothing. */
  forget(): void {
    this.#types.clear()
    this.#sources.clear()
    this.#owners.clear()
    this.#nextSource = 0
    this.#symbols = 0
    this.#bytes = 0
  }

  #tellType(type: RecordType, out: TakeItem): number | Refusal {
    const key = this.#types.size
    if (key >= this.#limits.types - (this.#isLoss ? 0 : 1)) return 'type_limit'
    const { fingerprint } = type
    const definition = definitionOf(type)
    const json = JSON.stringify(definition)
    const bytes = typeBytes(definition.fields.length, json.length)
    try {
      // What the other end would not take is found here, where it costs one type and not the link.
      parseDefinition(JSON.parse(json), fingerprint)
      checkLabels(type)
      if (!this.#mayKeep(bytes)) return 'type_limit'
      out({ kind: 'type', key, fingerprint, definition })
    } catch (error) {
      return this.#refuse(messageOf(error))
    }
    this.#bytes += bytes
    this.#types.set(fingerprint, key)
    return key
  }

  #tellSource(source: SourceInfo, out: TakeItem): ToldSource | Refusal {
    const { id, tag, labels, symbols } = source
    const owner = source.owner ?? source
    const before = this.#owners.get(owner)
    const replaced = before === undefined ? undefined : this.#sources.get(before)
    // A source that replaces another takes its place and its memory.
    const count = this.#sources.size - (replaced === undefined ? 0 : 1)
    if (count >= this.#limits.sources - (this.#isLoss ? 0 : 1)) return 'source_limit'
    const bytes = sourceBytes(source)
    const first = textsBytes(symbols.since(0, SYMBOLS_OF_SOURCE))
    if (!this.#mayKeep(bytes + first - (replaced?.bytes ?? 0))) return 'source_limit'
    const info = { id, tag, labels }
    const key = this.#nextSource
    try {
      const fault = faultOfSource(info)
      if (fault !== undefined)
        return this.#refuse(`source ${id}: ${fault.place} is not allowed; allowed: ${fault.allowed}`)
      const own = Object.keys(labels).find(isOwnLabel)
      if (own !== undefined) return this.#refuse(`source ${id}: the label ${own} is Sonde's own`)
      out({ kind: 'source', key, info, ...(replaced !== undefined && { replaces: replaced.key }) })
    } catch (error) {
      return this.#refuse(messageOf(error))
    }
    if (before !== undefined && replaced !== undefined) this.#forgetSource(before, replaced)
    this.#nextSource++
    this.#bytes += bytes
    const told = new ToldSource(key, bytes)
    this.#sources.set(source, told)
    this.#owners.set(owner, source)
    return told
  }

  #forgetSource(source: SourceInfo, told: ToldSource): void {
    this.#sources.delete(source)
    this.#bytes -= told.bytes
    this.#symbols -= Math.max(0, told.labels - SYMBOLS_OF_SOURCE)
  }

  /** Null if everything is told. */
  #tellSymbols(batch: Referring, told: ToldSource, out: TakeItem): Refusal | undefined | null {
    const { source, symbols } = batch
    if (source.symbols.count > told.labels) {
      const refusal = this.#tellLabels(source, told, out)
      // A batch whose labels are told can be read, whatever has no room.
      if (refusal !== undefined && lastLabelOf(batch) >= told.labels) return refusal
      if (refusal === undefined && source.symbols.count > told.labels) return undefined
    }
    if (symbols.nextTextId > symbols.firstTextId) {
      const refusal = this.#tellTexts(batch, told, out)
      if (refusal !== undefined) return refusal
      if (symbols.nextTextId > told.nextTextId) return undefined
    }
    return null
  }

  #tellLabels({ symbols }: SourceInfo, told: ToldSource, out: TakeItem): Refusal | undefined {
    // The first of each source are those with which it reports its losses: they have room beside the limit.
    const free = Math.max(0, SYMBOLS_OF_SOURCE - told.labels)
    const item = told.nextLabels(symbols, free + this.#limits.symbols - this.#symbols)
    if (isTooLong(item)) return this.#refuse(`a text is longer than ${TEXT_CHARACTERS_MAX} characters`)
    const bytes = textsBytes(item.texts)
    if (item.texts.length === 0 || !this.#mayKeep(bytes)) return 'symbol_limit'
    out(item)
    told.toldLabels(item, bytes)
    this.#bytes += bytes
    this.#symbols += Math.max(0, item.texts.length - free)
    return undefined
  }

  /**
   * The other end keeps one table of texts a source: another takes its place. Where they are too many, those of other
   * sources go, to be told again when they are used again.
   */
  #tellTexts({ symbols }: Referring, told: ToldSource, out: TakeItem): Refusal | undefined {
    if (symbols !== told.table) {
      this.#bytes -= told.textBytes
      out(told.begin(symbols.firstTextId))
      told.table = symbols
    }
    const item = told.nextTexts(symbols)
    if (isTooLong(item)) return this.#refuse(`a text is longer than ${TEXT_CHARACTERS_MAX} characters`)
    if (item.texts.length === 0) return undefined
    const bytes = textsBytes(item.texts)
    if (!this.#mayKeep(bytes)) this.#forgetTextsBut(told, out)
    if (!this.#mayKeep(bytes)) return 'symbol_limit'
    out(item)
    told.toldTexts(item, bytes)
    this.#bytes += bytes
    return undefined
  }

  #forgetTextsBut(kept: ToldSource, out: TakeItem): void {
    for (const told of this.#sources.values()) {
      if (told === kept || told.textBytes === 0) continue
      this.#bytes -= told.textBytes
      out(told.begin())
    }
  }

  #refuse(fault: string): Refusal {
    this.fault = fault
    return 'not_announced'
  }

  #mayKeep(bytes: number): boolean {
    const ownBytes = this.#isLoss ? 0 : OWN_BYTES
    return this.#bytes + bytes + ownBytes <= this.#limits.bytes
  }
}

function isTooLong({ texts }: SymbolsItem): boolean {
  return texts.some(({ length }) => length > TEXT_CHARACTERS_MAX)
}
