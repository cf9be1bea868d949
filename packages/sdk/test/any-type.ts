import {
  array,
  buckets,
  chars,
  counter,
  defineType,
  type Field,
  gauge,
  label,
  labelNumber,
  type NestedField,
  nested,
  optional,
  type RecordOf,
  type RecordType,
  text,
  timestamp,
  value,
} from '../src/index.ts'
import type { LayoutNode, Slot } from '../src/internal/index.ts'
import type { Random } from './random.ts'

const NUMERIC = ['u8', 'i8', 'u16', 'i16', 'u32', 'i32', 'u64', 'i64', 'f32', 'f64'] as const

/**
 * A type of random fields: every kind, arrays, histograms, text, optional ones, records in records, in both layouts.
 */
export function anyType(random: Random): RecordType {
  const fields: Record<string, Field | NestedField> = {}
  if (random.chance(0.9)) fields.time = timestamp(random.pick(['ns', 'us']))
  fields.device = label()
  if (random.chance(0.5)) fields.port = labelNumber(random.pick(['u8', 'u16', 'u32']))
  if (random.chance(0.3)) fields.name = chars(12)
  for (let i = random.integer(1, 8); i > 0; i--) fields[`f${i}`] = anyField(random)
  if (random.chance(0.3)) fields.inner = anyNested(random, 1)
  return defineType(`any${random.integer(0, 1)}`, 'Anything', fields, { layout: random.pick(['aligned', 'packed']) })
}

function anyNested(random: Random, depth: number): NestedField {
  const isArray = random.chance(0.4)
  const fields: Record<string, Field | NestedField> = {}
  for (let i = random.integer(1, 3); i > 0; i--) fields[`g${i}`] = anyField(random)
  if (random.chance(0.3)) fields.time = timestamp()
  if (depth < 3 && random.chance(0.3)) fields.deep = anyNested(random, depth + 1)
  // A label is always there; a nested record of which all may be absent reads as absent.
  const mayLack = Object.values(fields).some((field) => field.role !== 'label' && !field.optional)
  if (random.chance(0.3)) fields.who = label()
  const one = nested(defineType(`inner${depth}`, 'Something inside', fields))
  const field: NestedField<unknown, false> = isArray ? array(one, random.integer(2, 3)) : one
  return mayLack && fields.who === undefined && !holdsLabel(field) && random.chance(0.3) ? optional(field) : field
}

function holdsLabel({ fields }: NestedField): boolean {
  return Object.values(fields).some((field) => field.role === 'label' || (field.kind === 'record' && holdsLabel(field)))
}

function anyField(random: Random): Field {
  const kind = random.pick(NUMERIC)
  const labels = random.chance(0.3) ? { labels: { mode: random.pick(['a', 'b"\\']), part: 'x' } } : {}
  const field = random.pick<() => Field>([
    () => counter(kind, labels),
    () => gauge(kind, labels),
    () => value('bool'),
    () => text(),
    () => chars(9, { role: 'value' }),
    () => buckets('u64', [0.5, 1, 2], labels),
    () => array(gauge(kind), random.integer(2, 40)),
  ])()
  return random.chance(0.3) ? optional(field as Field<unknown, false>) : field
}

/** A record of such a type. */
export function anyRecord(random: Random, type: RecordType, timeMs: number): RecordOf<RecordType> {
  return anyOf(random, type.layout.tree, timeMs) as RecordOf<RecordType>
}

function anyOf(random: Random, nodes: readonly LayoutNode[], timeMs: number): Record<string, unknown> {
  const record: Record<string, unknown> = {}
  for (const node of nodes) {
    if (node.optional && random.chance(0.4)) continue
    if ('slot' in node) record[node.key] = anyOfSlot(random, node.slot, timeMs)
    else {
      const elements = node.elements.map((inner) => anyOf(random, inner, timeMs))
      record[node.key] = node.field.count === 1 ? elements[0] : elements
    }
  }
  return record
}

function anyOfSlot(random: Random, { field }: Slot, timeMs: number): unknown {
  if (field.role === 'timestamp') {
    return BigInt(timeMs) * (field.resolution === 'us' ? 1000n : 1_000_000n) + BigInt(random.integer(0, 999))
  }
  if (field.kind === 'char') return random.pick(['', 'a', 'Grüße', 'x"\\\n'])
  if (field.count > 1) return Array.from({ length: field.count }, () => anyValue(random, field.kind))
  if (field.role === 'label') return field.kind === 'symbol' ? `d${random.integer(0, 5)}` : random.integer(0, 3)
  return anyValue(random, field.kind)
}

function anyValue(random: Random, kind: string): unknown {
  switch (kind) {
    case 'bool':
      return random.chance(0.5)
    case 'symbol':
      return random.pick(['', 'ok', 'denied', `t${random.integer(0, 99)}`])
    case 'u64':
      return random.chance(0.5) ? random.bits64() : random.integer(0, 1000)
    case 'i64':
      return BigInt.asIntN(64, random.bits64())
    case 'f32':
    case 'f64':
      return random.pick([
        random.next(),
        Number.NaN,
        Infinity,
        -0,
        kind === 'f32' ? 1e38 : 1e300,
        random.integer(-1000, 1000) / 8,
      ])
    default: {
      const bits = Number(kind.slice(1))
      return kind.startsWith('u')
        ? random.integer(0, 2 ** bits - 1)
        : random.integer(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    }
  }
}
