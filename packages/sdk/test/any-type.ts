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
  optional,
  type RecordOf,
  type RecordType,
  text,
  timestamp,
  value,
} from '../src/index.ts'
import type { Random } from './random.ts'

const NUMERIC = ['u8', 'i8', 'u16', 'i16', 'u32', 'i32', 'u64', 'i64', 'f32', 'f64'] as const

/** A type of random fields: every kind, arrays, histograms, text, optional ones, in both layouts. */
export function anyType(random: Random): RecordType {
  const fields: Record<string, Field> = {}
  if (random.chance(0.9)) fields.time = timestamp(random.pick(['ns', 'us']))
  fields.device = label()
  if (random.chance(0.5)) fields.port = labelNumber(random.pick(['u8', 'u16', 'u32']))
  if (random.chance(0.3)) fields.name = chars(12)
  for (let i = random.integer(1, 8); i > 0; i--) fields[`f${i}`] = anyField(random)
  return defineType(`any${random.integer(0, 1)}`, 'Anything', fields, { layout: random.pick(['aligned', 'packed']) })
}

function anyField(random: Random): Field {
  const kind = random.pick(NUMERIC)
  const field = random.pick<() => Field>([
    () => counter(kind),
    () => gauge(kind),
    () => value('bool'),
    () => text(),
    () => chars(9, { role: 'value' }),
    () => buckets('u64', [0.5, 1, 2]),
    () => array(gauge(kind), random.integer(2, 40)),
  ])()
  return random.chance(0.3) ? optional(field as Field<unknown, false>) : field
}

/** A record of such a type. */
export function anyRecord(random: Random, type: RecordType, timeMs: number): RecordOf<RecordType> {
  const record: Record<string, unknown> = {}
  for (const { name, field } of type.layout.slots) {
    if (field.optional && random.chance(0.4)) continue
    if (field.role === 'timestamp')
      record[name] = BigInt(timeMs) * (field.resolution === 'us' ? 1000n : 1_000_000n) + BigInt(random.integer(0, 999))
    else if (field.kind === 'char') record[name] = random.pick(['', 'a', 'Grüße', 'x"\\\n'])
    else if (field.count > 1) record[name] = Array.from({ length: field.count }, () => anyValue(random, field.kind))
    else if (field.role === 'label')
      record[name] = field.kind === 'symbol' ? `d${random.integer(0, 5)}` : random.integer(0, 3)
    else record[name] = anyValue(random, field.kind)
  }
  return record as RecordOf<RecordType>
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
      return random.pick([random.next(), Number.NaN, Infinity, -0, 1e300, random.integer(-1000, 1000) / 8])
    default: {
      const bits = Number(kind.slice(1))
      return kind.startsWith('u')
        ? random.integer(0, 2 ** bits - 1)
        : random.integer(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    }
  }
}
