import { messageOf } from '../errors.ts'
import type { Batch, SourceInfo } from '../schema/batch.ts'
import { lossType } from '../schema/builtin.ts'
import { definitionOf } from '../schema/fingerprint.ts'
import { checkLabels, isOwnLabel } from '../schema/label-rules.ts'
import { parseDefinition } from '../schema/parse-definition.ts'
import type { RecordType } from '../schema/record-type.ts'
import { faultOfSource } from '../schema/source-rules.ts'
import { AnnouncedSource } from './announced-source.ts'
import {
  type LinkItem,
  type LinkLimits,
  type Refusal,
  SYMBOLS_OF_SOURCE,
  type SymbolsItem,
  TEXT_CHARACTERS_MAX,
} from './item.ts'
import { sourceBytes, textsBytes, typeBytes } from './memory.ts'
import { lastLabelOf } from './symbol-offsets.ts'

/** Memory, a source and a type are reserved for losses, so that these can always be reported. Unit: bytes. */
const OWN_BYTES = 64 << 10

/** The parts of a batch that refer to types, sources and symbols. */
export type BatchReferences = Pick<Batch, 'type' | 'source' | 'symbols' | 'count' | 'bytes'>

/** The numbers of the type and the source of a batch in this link. */
export interface BatchIds {
  readonly type: number
  readonly source: number
}

/** Sends an item to the reader. If it throws a `SondeError`, the item counts as not announced. */
export type TakeItem = (item: LinkItem) => void

/**
 * The writing end of a link: announces types, sources and symbols before their first use, within the limits of the
 * reader. Types and sources are numbered in the order of their announcement.
 */
export class LinkWriter {
  /** The reason of the last `not_announced`, for people; undefined if there was none. */
  fault: string | undefined
  readonly #limits: LinkLimits
  readonly #types = new Map<string, number>()
  readonly #sources = new Map<SourceInfo, AnnouncedSource>()
  /** The source that last reported the series of an owner. */
  readonly #owners = new Map<object, SourceInfo>()
  #nextSource = 0
  /** Labels that count towards the limit. */
  #symbols = 0
  /** Whether the current announcements are for a report of losses. */
  #isLoss = false
  /** Estimated memory at the reader. */
  #bytes = 0

  constructor(limits: LinkLimits) {
    this.#limits = limits
  }

  /** Announces everything that a batch refers to, then sends the batch; returns the reason if that is refused. */
  put(batch: Batch, out: TakeItem): Refusal | undefined {
    for (;;) {
      const ids = this.announce(batch, out)
      if (typeof ids === 'string') return ids
      if (ids === undefined) continue
      const { clock, count, bytes, page } = batch
      out({ kind: 'batch', ...ids, clock, count, bytes, ...(page !== undefined && { page }) })
      return undefined
    }
  }

  /**
   * Announces everything that a batch refers to.
   *
   * @returns The numbers of its type and source, or the reason for a refusal. Undefined: more symbols remain to be
   * announced; call again, perhaps in another turn of the loop.
   */
  announce(batch: BatchReferences, out: TakeItem): BatchIds | Refusal | undefined {
    const { type, source } = batch
    this.#isLoss = type.fingerprint === lossType.fingerprint
    const key = this.#types.get(type.fingerprint) ?? this.#announceType(type, out)
    if (typeof key === 'string') return key
    const announced = this.#sources.get(source) ?? this.#announceSource(source, out)
    if (typeof announced === 'string') return announced
    const refused = this.#announceSymbols(batch, announced, out)
    if (refused !== null) return refused
    return { type: key, source: announced.key }
  }

  /** The reader knows these types already, numbered by their index. Call before any announcement. */
  knows(types: readonly RecordType[]): void {
    for (const { fingerprint } of types) this.#types.set(fingerprint, this.#types.size)
  }

  /** Announces the end of a source. */
  gone(source: SourceInfo, out: TakeItem): void {
    const announced = this.#sources.get(source)
    if (announced === undefined) return
    this.#forgetSource(source, announced)
    this.#owners.delete(source.owner ?? source)
    out({ kind: 'gone', source: announced.key })
  }

  /** The reader is new and knows nothing. */
  forget(): void {
    this.#types.clear()
    this.#sources.clear()
    this.#owners.clear()
    this.#nextSource = 0
    this.#symbols = 0
    this.#bytes = 0
  }

  #announceType(type: RecordType, out: TakeItem): number | Refusal {
    const key = this.#types.size
    if (key >= this.#limits.types - (this.#isLoss ? 0 : 1)) return 'type_limit'
    const { fingerprint } = type
    const definition = definitionOf(type)
    const json = JSON.stringify(definition)
    const bytes = typeBytes(definition.fields.length, json.length)
    try {
      // A type that the reader would refuse is found here, where it costs one type and not the link.
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

  #announceSource(source: SourceInfo, out: TakeItem): AnnouncedSource | Refusal {
    const { id, tag, labels, symbols } = source
    const owner = source.owner ?? source
    const before = this.#owners.get(owner)
    const replaced = before === undefined ? undefined : this.#sources.get(before)
    // A source that replaces another uses its slot and its memory.
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
    const announced = new AnnouncedSource(key, bytes)
    this.#sources.set(source, announced)
    this.#owners.set(owner, source)
    return announced
  }

  #forgetSource(source: SourceInfo, announced: AnnouncedSource): void {
    this.#sources.delete(source)
    this.#bytes -= announced.bytes
    this.#symbols -= Math.max(0, announced.labels - SYMBOLS_OF_SOURCE)
  }

  /** Null if all symbols are announced, undefined if more remain. */
  #announceSymbols(batch: BatchReferences, announced: AnnouncedSource, out: TakeItem): Refusal | undefined | null {
    const { source, symbols } = batch
    if (source.symbols.count > announced.labels) {
      const refusal = this.#announceLabels(source, announced, out)
      // A batch is readable if its own labels are announced, even if others are refused.
      if (refusal !== undefined && lastLabelOf(batch) >= announced.labels) return refusal
      if (refusal === undefined && source.symbols.count > announced.labels) return undefined
    }
    if (symbols.nextTextId > symbols.firstTextId) {
      const refusal = this.#announceTexts(batch, announced, out)
      if (refusal !== undefined) return refusal
      if (symbols.nextTextId > announced.nextTextId) return undefined
    }
    return null
  }

  #announceLabels({ symbols }: SourceInfo, announced: AnnouncedSource, out: TakeItem): Refusal | undefined {
    // The first symbols of each source report losses and count towards no limit.
    const free = Math.max(0, SYMBOLS_OF_SOURCE - announced.labels)
    const item = announced.nextLabels(symbols, free + this.#limits.symbols - this.#symbols)
    if (isTooLong(item)) return this.#refuse(`a text is longer than ${TEXT_CHARACTERS_MAX} characters`)
    const bytes = textsBytes(item.texts)
    if (item.texts.length === 0 || !this.#mayKeep(bytes)) return 'symbol_limit'
    out(item)
    announced.noteLabels(item, bytes)
    this.#bytes += bytes
    this.#symbols += Math.max(0, item.texts.length - free)
    return undefined
  }

  /**
   * The reader keeps one table of texts a source: a new table replaces it. If the texts of all sources exceed the
   * memory, the reader discards those of other sources; they are announced again before their next use.
   */
  #announceTexts({ symbols }: BatchReferences, announced: AnnouncedSource, out: TakeItem): Refusal | undefined {
    if (symbols !== announced.table) {
      this.#bytes -= announced.textBytes
      out(announced.begin(symbols.firstTextId))
      announced.table = symbols
    }
    const item = announced.nextTexts(symbols)
    if (isTooLong(item)) return this.#refuse(`a text is longer than ${TEXT_CHARACTERS_MAX} characters`)
    if (item.texts.length === 0) return undefined
    const bytes = textsBytes(item.texts)
    if (!this.#mayKeep(bytes)) this.#forgetTextsBut(announced, out)
    if (!this.#mayKeep(bytes)) return 'symbol_limit'
    out(item)
    announced.noteTexts(item, bytes)
    this.#bytes += bytes
    return undefined
  }

  #forgetTextsBut(kept: AnnouncedSource, out: TakeItem): void {
    for (const announced of this.#sources.values()) {
      if (announced === kept || announced.textBytes === 0) continue
      this.#bytes -= announced.textBytes
      out(announced.begin())
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
