import { messageOf, SondeError } from '../../errors.ts'
import type { SourceInfo } from '../../schema/batch.ts'
import { lossType } from '../../schema/builtin.ts'
import { definitionOf } from '../../schema/fingerprint.ts'
import { checkLabels, isOwnLabel } from '../../schema/label-rules.ts'
import { parseDefinition } from '../../schema/parse-definition.ts'
import type { RecordType } from '../../schema/record-type.ts'
import { type BatchSymbols, TEXT_ID_MIN, textBytes } from '../../schema/texts.ts'
import { splitSymbols } from '../../wire/ipc/encode.ts'
import { type ClientMessage, type ServiceLimits, SYMBOLS_OF_SOURCE } from '../../wire/ipc/frame.ts'
import { parseSource } from '../../wire/ipc/message.ts'
import { sourceBytes } from '../../wire/ipc/source-bytes.ts'
import { HEADROOM_BYTES, type SpooledPage } from './spool.ts'

/**
 * What the service keeps of types and symbols is at most so much of what it keeps for a client; this is what it may
 * need for them. Units: ratio, bytes.
 */
const KEPT_RATIO = 0.5
const FIELD_BYTES = 400
/** Memory, a source and a type that only losses may take: they can always be reported. Unit: bytes. */
const OWN_BYTES = 64 << 10

/** Symbols that are told at once, and characters of one. */
const SYMBOLS_AT_ONCE = 2000
const TEXT_CHARACTERS_MAX = 4096

/** What a page calls its type and its source. */
interface Told {
  readonly type: number
  readonly source: number
}

/** Why the service is not told of a page. */
export type Obstacle = 'too_large' | 'type_limit' | 'source_limit' | 'symbol_limit' | 'not_announced'

interface ToldSource {
  readonly index: number
  /** Labels that were told. */
  symbols: number
  /** The table of texts that is told, up to which id, and what it takes. */
  table: BatchSymbols | undefined
  nextTextId: number
  textBytes: number
}

/**
 * What the service was told on one connection: types, sources and symbols, each before the first page that refers to
 * it.
 */
export class Announcements {
  readonly #limits: ServiceLimits
  readonly #schema: string
  readonly #send: (message: ClientMessage) => void
  readonly #types = new Map<string, number>()
  readonly #sources = new Map<SourceInfo, ToldSource>()
  /** Why something was last `not_announced`, for people; undefined where nothing was. */
  fault: string | undefined
  /** Symbols that count towards the limit. */
  #symbols = 0
  /** Whether what is told is for a report of losses. */
  #isLoss = false
  /** What the service needs for all that, roughly. */
  #bytes = 0

  constructor(limits: ServiceLimits, schema: string, send: (message: ClientMessage) => void) {
    this.#limits = limits
    this.#schema = schema
    this.#send = send
  }

  /**
   * Tells what a page refers to; gives what the page calls it, or why it cannot be told. Undefined: there was much to
   * tell, and there is more; ask again, perhaps in another turn of the loop.
   */
  tell(page: SpooledPage): Told | Obstacle | undefined {
    const { type, source, symbols, byteLength } = page
    if (byteLength > this.#limits.pageBytes) return 'too_large'
    this.#isLoss = type.fingerprint === lossType.fingerprint
    const typeIndex = this.#types.get(type.fingerprint) ?? this.#tellType(type)
    if (typeof typeIndex === 'string') return typeIndex
    const told = this.#sources.get(source) ?? this.#tellSource(source)
    if (typeof told === 'string') return told
    if (source.symbols.count > told.symbols) {
      const obstacle = this.#tellSymbols(source, told)
      // A page whose labels are told can be read, whatever has no room.
      if (obstacle !== undefined && lastLabelOf(page) >= told.symbols) return obstacle
      if (obstacle === undefined && source.symbols.count > told.symbols) return undefined
    }
    if (symbols.nextTextId > symbols.firstTextId) {
      const obstacle = this.#tellTexts(symbols, told)
      if (obstacle !== undefined) return obstacle
      if (symbols.nextTextId > told.nextTextId) return undefined
    }
    return { type: typeIndex, source: told.index }
  }

  #tellType(type: RecordType): number | Obstacle {
    const index = this.#types.size
    if (index >= this.#limits.types - (this.#isLoss ? 0 : 1)) return 'type_limit'
    const { fingerprint } = type
    const definition = definitionOf(type)
    const json = JSON.stringify(definition)
    try {
      // What the service would not take is found here, where it costs one type and not the connection.
      parseDefinition(JSON.parse(json), fingerprint)
      checkLabels(type)
      const bytes = FIELD_BYTES * definition.fields.length + 4 * json.length
      if (!this.#mayKeep(bytes)) return 'type_limit'
      this.#send({ kind: 'types', body: [{ index, fingerprint, definition }] })
      this.#bytes += bytes
    } catch (error) {
      this.fault = messageOf(error)
      return 'not_announced'
    }
    this.#types.set(fingerprint, index)
    return index
  }

  #tellSource(source: SourceInfo): ToldSource | Obstacle {
    const index = this.#sources.size
    if (index >= this.#limits.sources - (this.#isLoss ? 0 : 1)) return 'source_limit'
    const { id, tag, labels, intervalMs } = source
    const bytes = sourceBytes(source)
    const first = bytesOf(source.symbols.since(0, SYMBOLS_OF_SOURCE))
    if (!this.#mayKeep(bytes + first)) return 'source_limit'
    const body = { index, id, tag, labels, intervalMs, schema: this.#schema }
    try {
      parseSource(body)
      const own = Object.keys(labels).find(isOwnLabel)
      if (own !== undefined) throw new SondeError('SCH_LABEL_NAME', `source ${id}: the label ${own} is Sonde's own`)
      this.#send({ kind: 'source', body })
    } catch (error) {
      this.fault = messageOf(error)
      return 'not_announced'
    }
    this.#bytes += bytes
    const told: ToldSource = { index, symbols: 0, table: undefined, nextTextId: 0, textBytes: 0 }
    this.#sources.set(source, told)
    return told
  }

  #tellSymbols({ symbols }: SourceInfo, told: ToldSource): Obstacle | undefined {
    // The first of each source are those with which it reports its losses: they have room beside the limit.
    const free = Math.max(0, SYMBOLS_OF_SOURCE - told.symbols)
    const room = free + this.#limits.symbols - this.#symbols
    const texts = symbols.since(told.symbols, Math.min(SYMBOLS_AT_ONCE, room))
    if (this.#isTooLong(texts)) return 'not_announced'
    const bytes = bytesOf(texts)
    if (texts.length === 0 || !this.#mayKeep(bytes)) return 'symbol_limit'
    this.#bytes += bytes
    for (const message of splitSymbols({ source: told.index, firstId: told.symbols, texts })) this.#send(message)
    told.symbols += texts.length
    this.#symbols += Math.max(0, texts.length - free)
    return undefined
  }

  /**
   * The service keeps one table of texts a source: another takes its place. Where they are too many, those of other
   * sources go, to be told again when they are used again.
   */
  #tellTexts(table: BatchSymbols, told: ToldSource): Obstacle | undefined {
    if (table !== told.table) {
      this.#beginTexts(told, table.firstTextId)
      told.table = table
    }
    const texts = table.textsFrom(told.nextTextId, SYMBOLS_AT_ONCE)
    if (texts.length === 0) return undefined
    if (this.#isTooLong(texts)) return 'not_announced'
    const bytes = bytesOf(texts)
    if (!this.#mayKeep(bytes)) this.#forgetTextsBut(told)
    if (!this.#mayKeep(bytes)) return 'symbol_limit'
    for (const message of splitSymbols({ source: told.index, firstId: told.nextTextId, texts })) this.#send(message)
    told.nextTextId += texts.length
    told.textBytes += bytes
    this.#bytes += bytes
    return undefined
  }

  #forgetTextsBut(kept: ToldSource): void {
    for (const told of this.#sources.values())
      if (told !== kept && told.textBytes > 0) this.#beginTexts(told, TEXT_ID_MIN)
  }

  /** The service forgets the table of texts that it has of a source, and has an empty one. */
  #beginTexts(told: ToldSource, firstId: number): void {
    this.#send({ kind: 'symbols', body: { source: told.index, firstId, texts: [] } })
    this.#bytes -= told.textBytes
    told.table = undefined
    told.nextTextId = firstId
    told.textBytes = 0
  }

  #isTooLong(texts: readonly string[]): boolean {
    const isSo = texts.some((text) => text.length > TEXT_CHARACTERS_MAX)
    if (isSo) this.fault = `a text is longer than ${TEXT_CHARACTERS_MAX} characters`
    return isSo
  }

  #mayKeep(bytes: number): boolean {
    const ownBytes = this.#isLoss ? 0 : OWN_BYTES
    return this.#bytes + bytes + ownBytes <= this.#limits.clientBytes * KEPT_RATIO
  }
}

/** Memory that the service keeps for texts. Unit: bytes. */
function bytesOf(texts: readonly string[]): number {
  return texts.reduce((total, text) => total + textBytes(text), 0)
}

/** The highest id of a label that a page refers to. Labels may stand in fields of text too. */
function lastLabelOf({ type, block, count }: SpooledPage): number {
  const { slots, recordBytes } = type.layout
  let last = 0
  for (const { field, offset } of slots) {
    if (field.kind !== 'symbol') continue
    for (let record = 0, at = HEADROOM_BYTES + offset; record < count; record++, at += recordBytes) {
      const id = block.readUInt32LE(at)
      if (id > last && id < TEXT_ID_MIN) last = id
    }
  }
  return last
}
