import type { SourceInfo } from '../../schema/batch.ts'
import { addressFormOf } from '../../schema/element.ts'
import type { Kind } from '../../schema/kinds.ts'
import type { Slot } from '../../schema/layout.ts'
import type { RecordType } from '../../schema/record-type.ts'
import { hasAttributes } from '../log-attributes.ts'
import { arrayHeader, mapHeader, pack } from './msgpack.ts'

/**
 * How a record lies in an event. `flb_std`: one flat map, which every output of Fluent Bit can write. `custom`: the
 * fields are in the map `values`.
 */
export type RecordLayout = 'flb_std' | 'custom'

/** Where the bytes of the time are in a template, after `[` and the type of the EventTime. */
export const EVENT_TIME_AT = 3

/** Numbers of an operation: the kind of a number, its place in the record, its place in the template. */
export const OPERATION_NUMBERS = 3

/**
 * An event of one type and source with all constant bytes: keys, source, type. Numbers are zero, and are filled in by
 * operations. The texts of a record have any length, so they follow the template.
 */
export interface EventTemplate {
  readonly bytes: Buffer
  /** Where the microseconds of the key `timestamp` are. */
  readonly timestampAt: number
  /** Three numbers each: see {@link OPERATION_NUMBERS}. */
  readonly operations: Int32Array
  /** The texts behind the template. */
  readonly texts: readonly TextSlot[]
}

/** A text of a record and its encoded key. */
export interface TextSlot {
  readonly slot: Slot
  readonly key: Buffer
  /** Whether it is a label by id. The encoded text of such a label is cached. */
  readonly isSymbol: boolean
  /** Whether it is a map in the event: the attributes of a log record. */
  readonly isMap: boolean
}

/** Operations by kind; the codes are those of {@link OPERATION_CODES}. */
export const OPERATION_CODES = {
  u8: 0,
  i8: 1,
  u16: 2,
  i16: 3,
  u32: 4,
  i32: 5,
  f32: 6,
  f64: 7,
  u64: 8,
  i64: 9,
  bool: 10,
} as const

/** The type byte and the width of a number. A bool is a type byte alone. Widths are fixed, so that places are. */
const ENCODED: Readonly<Record<keyof typeof OPERATION_CODES, readonly [type: number, bytes: number]>> = {
  u8: [0xcc, 1],
  i8: [0xd0, 1],
  u16: [0xcd, 2],
  i16: [0xd1, 2],
  u32: [0xce, 4],
  i32: [0xd2, 4],
  f32: [0xcb, 8],
  f64: [0xcb, 8],
  u64: [0xcf, 8],
  i64: [0xd3, 8],
  bool: [0xc2, 0],
}
const NIL = 0xc0

/** What a template is for, beside the fields of the type. */
interface TemplateOptions {
  readonly layout: RecordLayout
  /** Whether a record has a field. */
  readonly isPresent: (slot: Slot) => boolean
  /** Places in the record of numbers that JSON cannot write: each is sent as nil. */
  readonly nils: ReadonlySet<number>
}

/** Lays out an event of a type and a source. Pure. */
export function templateOf(
  type: RecordType,
  source: SourceInfo,
  { layout, isPresent, nils }: TemplateOptions,
): EventTemplate {
  const { fields, labels } = keysOf(type, source, layout)
  const present = type.layout.slots.filter(isPresent)
  const count = present.length + labels.length
  const common = { type: source.tag === '' ? 'counters' : 'events', type_name: type.name, source: source.id }
  const out = new Pieces()
  out.add(Buffer.of(0x92, 0xd7, 0, 0, 0, 0, 0, 0, 0, 0, 0))
  out.add(mapHeader(Object.keys(common).length + 1 + (layout === 'custom' ? 1 : count)))
  out.add(pack('timestamp'))
  const timestampAt = out.add(Buffer.of(0xcf, 0, 0, 0, 0, 0, 0, 0, 0)) + 1
  for (const word of Object.entries(common).flat()) out.add(pack(word))
  if (layout === 'custom') {
    out.add(pack('values'))
    out.add(mapHeader(count))
  }
  for (const word of labels.flat()) out.add(pack(word))
  const operations: number[] = []
  const texts: TextSlot[] = []
  for (const slot of present) {
    const key = pack(fields.get(slot) ?? slot.name)
    if (isText(slot)) {
      const isSymbol = slot.field.kind === 'symbol' && slot.field.role === 'label'
      texts.push({ slot, key, isSymbol, isMap: hasAttributes(type, slot.name) })
      continue
    }
    out.add(key)
    if (slot.field.count > 1) out.add(arrayHeader(slot.field.count))
    addNumbers(slot, nils, out, operations)
  }
  return { bytes: out.whole(), timestampAt, operations: Int32Array.from(operations), texts }
}

function addNumbers(slot: Slot, nils: ReadonlySet<number>, out: Pieces, operations: number[]): void {
  const { count } = slot.field
  const kind = slot.field.kind as keyof typeof OPERATION_CODES
  const [type, width] = ENCODED[kind]
  const number = Buffer.alloc(1 + width)
  number[0] = type
  for (let i = 0; i < count; i++) {
    const from = slot.offset + (i * slot.bytes) / count
    if (nils.has(from)) out.add(Buffer.of(NIL))
    else operations.push(OPERATION_CODES[kind], from, out.add(number) + (width > 0 ? 1 : 0))
  }
}

/** Whether the field is text, which has no fixed width. */
function isText({ field }: Slot): boolean {
  const { kind }: { readonly kind: Kind } = field
  return kind === 'symbol' || kind === 'char' || addressFormOf(field) !== undefined
}

/** Keys of the flat map that fields may not have. */
const OWN_KEYS = ['timestamp', 'type', 'type_name', 'source']

/**
 * The keys of fields, and the labels of the source with its host if it is another. A field with a key of ours gets
 * `field_` before its name; a label with the key of a field gets `source_`.
 */
function keysOf(type: RecordType, source: SourceInfo, layout: RecordLayout) {
  const names = new Set(type.layout.slots.map(({ name }) => name))
  const taken = new Set(layout === 'flb_std' ? OWN_KEYS : [])
  const fields = new Map<Slot, string>()
  for (const slot of type.layout.slots) {
    const key = taken.has(slot.name) ? free(slot.name, 'field_', new Set([...taken, ...names])) : slot.name
    fields.set(slot, key)
  }
  for (const key of fields.values()) taken.add(key)
  const host = source.host === undefined ? {} : { host: source.host }
  const labels = Object.entries({ ...host, ...source.labels }).map(([name, text]) => {
    const key = free(name, 'source_', taken)
    taken.add(key)
    return [key, text] as const
  })
  return { fields, labels }
}

function free(name: string, prefix: string, taken: ReadonlySet<string>): string {
  return taken.has(name) ? free(`${prefix}${name}`, prefix, taken) : name
}

/** Bytes that follow each other. */
class Pieces {
  readonly #pieces: Buffer[] = []
  #bytes = 0

  /** Returns where the piece lies. */
  add(piece: Buffer): number {
    const at = this.#bytes
    this.#pieces.push(piece)
    this.#bytes += piece.length
    return at
  }

  whole(): Buffer {
    return Buffer.concat(this.#pieces, this.#bytes)
  }
}
