import { SondeError } from '../errors.ts'
import type { Field, NestedField } from './field.ts'
import { KIND_BYTES } from './kinds.ts'
import type { Fields } from './record-type.ts'

/** Where one field lies in the packed record. A field of a nested record is a slot of its own. */
export interface Slot {
  /** Name of the field; of a field of a nested record its path, `outer.inner` or `outer.0.inner`. */
  readonly name: string
  /** The field; for a nested record, with its role in the outer record. */
  readonly field: Field
  /** Place among the type's slots; also the bit of the presence words. */
  readonly index: number
  /** Bytes from the start of the record. */
  readonly offset: number
  /** Bytes of the whole field, all elements. */
  readonly bytes: number
}

/** A slot in the tree of a record. */
interface LeafNode {
  /** Name in the record that it is a field of. */
  readonly key: string
  /** Whether the record may omit it; its slot is also absent if an outer record is. */
  readonly optional: boolean
  readonly slot: Slot
}

/** A nested record, or an array of them, in the tree of a record. */
export interface NestedNode {
  readonly key: string
  readonly optional: boolean
  /** Path of names from the outermost record on. */
  readonly path: string
  readonly field: NestedField
  /** The fields of each element. */
  readonly elements: readonly (readonly LayoutNode[])[]
}

/** A field in the tree of a record: `slot in node` tells a leaf. */
export type LayoutNode = LeafNode | NestedNode

/** The byte layout of a record. */
export interface Layout {
  readonly kind: 'aligned' | 'packed'
  /** Bytes of one record. A multiple of 8 in an aligned layout. */
  readonly recordBytes: number
  /** u32 words at the start, a bit per slot in declared order, 1 = present; 0 words where no slot is optional. */
  readonly presenceWords: number
  readonly slots: readonly Slot[]
  /** The slots as they nest: as many nodes as the type has fields. */
  readonly tree: readonly LayoutNode[]
}

const SLOT_COUNT_LIMIT = 1024
const DEPTH_LIMIT = 8

/** Properties that a field gets from its outer fields. */
interface Surroundings {
  readonly prefix: string
  readonly isNested: boolean
  readonly isInArray: boolean
  readonly isOptional: boolean
}

interface Measure {
  readonly slotCount: number
  readonly hasOptional: boolean
  /** Bytes of the widest element. */
  readonly width: number
}

/**
 * Lays fields out in declared order; a nested record as C lays a struct out.
 *
 * @throws SondeError `SCH_LIMIT` beyond 1024 slots or 8 levels, and for a record without fields.
 */
export function layoutOf(type: string, fields: Fields, kind: 'aligned' | 'packed'): Layout {
  const { slotCount, hasOptional } = measure(type, fields, 1)
  const presenceWords = hasOptional ? Math.ceil(slotCount / 32) : 0
  const placing = new Placing(kind, presenceWords * 4)
  const tree = placing.nodes(fields, { prefix: '', isNested: false, isInArray: false, isOptional: false })
  const { offset, slots } = placing
  return { kind, recordBytes: kind === 'aligned' ? align(offset, 8) : offset, presenceWords, slots, tree }
}

/** The next multiple of `width`, a power of two, at or after `offset`. */
export function align(offset: number, width: number): number {
  return (offset + width - 1) & ~(width - 1)
}

/** The slots that queries read: each bin of a histogram, else the first element. */
export function elementsOf(slot: Slot): readonly Slot[] {
  if (slot.field.role !== 'bucket') return [slot]
  const bytes = slot.bytes / slot.field.count
  return Array.from({ length: slot.field.count }, (_, bin) => ({ ...slot, offset: slot.offset + bin * bytes }))
}

/** All slots below a node. */
export function slotsOf(node: LayoutNode): readonly Slot[] {
  return 'slot' in node ? [node.slot] : node.elements.flat().flatMap(slotsOf)
}

/** Counts before anything is laid out: a few bytes of JSON can declare more slots than there is memory. */
function measure(type: string, fields: Fields, depth: number): Measure {
  if (depth > DEPTH_LIMIT) throw new SondeError('SCH_LIMIT', `type ${type} nests more than ${DEPTH_LIMIT} levels deep`)
  const entries = Object.values(fields)
  let slotCount = 0
  let hasOptional = false
  let width = 1
  for (const field of entries) {
    const inner = field.kind === 'record' ? measure(type, field.fields, depth + 1) : undefined
    slotCount += inner === undefined ? 1 : inner.slotCount * field.count
    hasOptional ||= field.optional || inner?.hasOptional === true
    width = Math.max(width, inner?.width ?? KIND_BYTES[field.kind as Field['kind']])
  }
  if (entries.length === 0 || slotCount > SLOT_COUNT_LIMIT) {
    throw new SondeError('SCH_LIMIT', `type ${type} has ${slotCount} fields; allowed: 1 to ${SLOT_COUNT_LIMIT}`)
  }
  return { slotCount, hasOptional, width }
}

class Placing {
  readonly slots: Slot[] = []
  readonly #isAligned: boolean
  offset: number

  constructor(kind: Layout['kind'], offset: number) {
    this.#isAligned = kind === 'aligned'
    this.offset = offset
  }

  nodes(fields: Fields, around: Surroundings): LayoutNode[] {
    return Object.entries(fields).map(([key, field]) => {
      const { optional } = field
      if (field.kind === 'record') return this.#nested(key, field, around)
      return { key, optional, slot: this.#slot(`${around.prefix}${key}`, inPlace(field, around)) }
    })
  }

  #nested(key: string, field: NestedField, around: Surroundings): NestedNode {
    const path = `${around.prefix}${key}`
    const isInArray = around.isInArray || field.count > 1
    const isOptional = around.isOptional || field.optional
    const width = this.#isAligned ? widthOf(field.fields) : 1
    this.offset = align(this.offset, width)
    const elements = Array.from({ length: field.count }, (_, i) => {
      const prefix = field.count > 1 ? `${path}.${i}.` : `${path}.`
      const nodes = this.nodes(field.fields, { prefix, isNested: true, isInArray, isOptional })
      this.offset = align(this.offset, width)
      return nodes
    })
    return { key, optional: field.optional, path, field, elements }
  }

  #slot(name: string, field: Field): Slot {
    const width = KIND_BYTES[field.kind]
    if (this.#isAligned) this.offset = align(this.offset, width)
    const slot: Slot = { name, field, index: this.slots.length, offset: this.offset, bytes: width * field.count }
    this.offset += slot.bytes
    this.slots.push(slot)
    return slot
  }
}

function widthOf(fields: Fields): number {
  const widths = Object.values(fields).map((field) =>
    field.kind === 'record' ? widthOf(field.fields) : KIND_BYTES[field.kind],
  )
  return Math.max(...widths)
}

/** A field of a nested record as it counts there: see {@link nested} of the fields. */
function inPlace(field: Field, { isNested, isInArray, isOptional }: Surroundings): Field {
  if (!isNested) return field
  const { metric: _named, labels: _constant, ...rest } = field
  const isData = isInArray || field.role === 'timestamp'
  return { ...rest, role: isData ? 'value' : field.role, optional: field.optional || isOptional }
}
