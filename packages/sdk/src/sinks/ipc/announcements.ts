import { messageOf, SondeError } from '../../errors.ts'
import type { SourceInfo } from '../../schema/batch.ts'
import { definitionOf } from '../../schema/fingerprint.ts'
import { checkLabels, isOwnLabel } from '../../schema/label-rules.ts'
import { parseDefinition } from '../../schema/parse-definition.ts'
import type { RecordType } from '../../schema/record-type.ts'
import { splitSymbols } from '../../wire/ipc/encode.ts'
import type { ClientMessage, ServiceLimits } from '../../wire/ipc/frame.ts'
import { parseSource } from '../../wire/ipc/message.ts'
import { sourceBytes } from '../../wire/ipc/source-bytes.ts'
import type { SpooledPage } from './spool.ts'

/** What the service keeps of types and symbols is at most so much of what it keeps for a client; this is what it may need for them. Units: ratio, bytes. */
const KEPT_RATIO = 0.5
const TEXT_BYTES = 48
const FIELD_BYTES = 400

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
  symbols: number
}

/** What the service was told on one connection: types, sources and symbols, each before the first page that refers to it. */
export class Announcements {
  readonly #limits: ServiceLimits
  readonly #schema: string
  readonly #send: (message: ClientMessage) => void
  readonly #types = new Map<string, number>()
  readonly #sources = new Map<SourceInfo, ToldSource>()
  /** Why something was last `not_announced`, for people; undefined where nothing was. */
  fault: string | undefined
  #symbols = 0
  /** What the service needs for all that, roughly. */
  #bytes = 0

  constructor(limits: ServiceLimits, schema: string, send: (message: ClientMessage) => void) {
    this.#limits = limits
    this.#schema = schema
    this.#send = send
  }

  /**
   * Tells what a page refers to; gives what the page calls it, or why it cannot be told. Undefined: there was much to tell, and there is more; ask again, perhaps in another turn of the
   * loop.
   */
  tell({ type, source, byteLength }: SpooledPage): Told | Obstacle | undefined {
    if (byteLength > this.#limits.pageBytes) return 'too_large'
    const typeIndex = this.#types.get(type.fingerprint) ?? this.#tellType(type)
    if (typeof typeIndex === 'string') return typeIndex
    const told = this.#sources.get(source) ?? this.#tellSource(source)
    if (typeof told === 'string') return told
    if (source.symbols.count > told.symbols) {
      const obstacle = this.#tellSymbols(source, told)
      if (obstacle !== undefined) return obstacle
      if (source.symbols.count > told.symbols) return undefined
    }
    return { type: typeIndex, source: told.index }
  }

  #tellType(type: RecordType): number | Obstacle {
    const index = this.#types.size
    if (index >= this.#limits.types) return 'type_limit'
    const { name, description, fields, layout, fingerprint, inTurns } = type
    const definition = definitionOf(name, description, fields, layout.kind, inTurns)
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
    if (index >= this.#limits.sources) return 'source_limit'
    const { id, tag, labels, intervalMs } = source
    const bytes = sourceBytes(source)
    if (!this.#mayKeep(bytes)) return 'source_limit'
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
    const told: ToldSource = { index, symbols: 0 }
    this.#sources.set(source, told)
    return told
  }

  #tellSymbols({ symbols }: SourceInfo, told: ToldSource): Obstacle | undefined {
    const texts = symbols.since(told.symbols).slice(0, SYMBOLS_AT_ONCE)
    if (texts.some((text) => text.length > TEXT_CHARACTERS_MAX)) {
      this.fault = `a text is longer than ${TEXT_CHARACTERS_MAX} characters`
      return 'not_announced'
    }
    const bytes = texts.reduce((total, text) => total + TEXT_BYTES + 2 * text.length, 0)
    if (this.#symbols + texts.length > this.#limits.symbols || !this.#mayKeep(bytes)) return 'symbol_limit'
    this.#bytes += bytes
    for (const message of splitSymbols({ source: told.index, firstId: told.symbols, texts })) this.#send(message)
    told.symbols += texts.length
    this.#symbols += texts.length
    return undefined
  }

  #mayKeep(bytes: number): boolean {
    return this.#bytes + bytes <= this.#limits.clientBytes * KEPT_RATIO
  }
}
