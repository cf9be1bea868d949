import type { SourceInfo } from '../../schema/batch.ts'
import type { Slot } from '../../schema/layout.ts'
import type { RecordType } from '../../schema/record-type.ts'
import type { BatchSymbols } from '../../schema/texts.ts'
import { pack } from './msgpack.ts'
import { type EventTemplate, type RecordLayout, templateOf } from './template.ts'

/** Memory of templates and labels. If it is full, all of them are removed. Unit: bytes. */
const CACHE_BYTES = 8 << 20
/** Memory of a cached object beside its bytes. Unit: bytes. */
const ENTRY_BYTES = 200
const NONE: ReadonlySet<number> = new Set()

/** The templates and encoded labels of one type and source. */
export class KnownEvents {
  readonly #type: RecordType
  readonly #source: SourceInfo
  readonly #layout: RecordLayout
  readonly #onBytes: (bytes: number) => void
  readonly #templates = new Map<string, EventTemplate>()
  readonly #labels = new Map<Slot, Map<number, Buffer>>()
  /** The presence words of the last record. */
  readonly #words: Uint32Array
  #last: EventTemplate | undefined

  constructor(type: RecordType, source: SourceInfo, layout: RecordLayout, onBytes: (bytes: number) => void) {
    this.#type = type
    this.#source = source
    this.#layout = layout
    this.#onBytes = onBytes
    this.#words = new Uint32Array(type.layout.presenceWords)
  }

  /** The template for the present fields of the record at `at`. */
  template(data: DataView, at: number): EventTemplate {
    let isSame = this.#last !== undefined
    for (let word = 0; word < this.#words.length; word++) {
      const bits = data.getUint32(at + word * 4, true)
      isSame &&= this.#words[word] === bits
      this.#words[word] = bits
    }
    if (!isSame || this.#last === undefined) this.#last = this.#find(NONE)
    return this.#last
  }

  /** The template for the record of the last call, with nil for the numbers at these places in the record. */
  withNils(nils: ReadonlySet<number>): EventTemplate {
    return this.#find(nils)
  }

  /** A label, encoded: its key and its text. */
  label(slot: Slot, key: Buffer, id: number, symbols: BatchSymbols): Buffer {
    let ids = this.#labels.get(slot)
    if (ids === undefined) {
      ids = new Map()
      this.#labels.set(slot, ids)
    }
    let text = ids.get(id)
    if (text === undefined) {
      text = Buffer.concat([key, pack(symbols.text(id))])
      ids.set(id, text)
      this.#onBytes(text.length + ENTRY_BYTES)
    }
    return text
  }

  #find(nils: ReadonlySet<number>): EventTemplate {
    const key = `${this.#words.join()}|${[...nils].join()}`
    let template = this.#templates.get(key)
    if (template === undefined) {
      const isPresent = ({ index }: Slot) =>
        this.#words.length === 0 || (((this.#words[index >> 5] ?? 0) >>> (index & 31)) & 1) === 1
      template = templateOf(this.#type, this.#source, { layout: this.#layout, isPresent, nils })
      this.#templates.set(key, template)
      this.#onBytes(template.bytes.length + template.operations.byteLength + key.length + ENTRY_BYTES)
    }
    return template
  }
}

/** Templates and labels of every type and source, within a limit of memory. */
export class EventCache {
  readonly #layout: RecordLayout
  #known = new WeakMap<SourceInfo, WeakMap<RecordType, KnownEvents>>()
  #bytes = 0

  constructor(layout: RecordLayout) {
    this.#layout = layout
  }

  of(type: RecordType, source: SourceInfo): KnownEvents {
    if (this.#bytes > CACHE_BYTES) {
      this.#known = new WeakMap()
      this.#bytes = 0
    }
    let types = this.#known.get(source)
    if (types === undefined) {
      types = new WeakMap()
      this.#known.set(source, types)
    }
    let known = types.get(type)
    if (known === undefined) {
      known = new KnownEvents(type, source, this.#layout, (bytes) => {
        this.#bytes += bytes
      })
      types.set(type, known)
    }
    return known
  }
}
