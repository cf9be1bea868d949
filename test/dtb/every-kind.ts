// Records of every kind of field, for readers to agree on.
import {
  array,
  buckets,
  chars,
  counter,
  defineType,
  gauge,
  label,
  labelNumber,
  nested,
  optional,
  type RecordOf,
  type RecordType,
  text,
  timestamp,
  value,
} from '@sonde/sdk'
import type { Fields, Kind } from '@sonde/sdk/internal'
import type { Random } from '../../packages/sdk/test/random.ts'

type Numeric = Exclude<Kind, 'char' | 'symbol' | 'bool'>

const NUMERIC: readonly Numeric[] = ['u8', 'i8', 'u16', 'i16', 'u32', 'i32', 'u64', 'i64', 'f32', 'f64']
const FLOATS = [0, -0, Number.NaN, Infinity, -Infinity, 5e-324, 1.5, -2.25, 1e-7, 1e21, 2 ** 53, 0.1]
const TEXTS = ['', 'a', 'Grüße', '漢字', '😀', 'x"\\\n\t', '\u0001\u001f', '\u2028', '…']

const point = defineType('point', 'A place', { x: gauge('f32'), y: optional(gauge('f64')), on: value('bool') })
const side = defineType('side', 'Half of something', { bytes: counter('u64'), at: nested(point), name: text() })

/**
 * Types of which each is narrow, so that a million records are soon read; all kinds, both layouts, optional and nested
 * ones.
 */
export const EVERY_KIND: readonly RecordType[] = (['aligned', 'packed'] as const).flatMap((layout) => {
  const type = (name: string, fields: Fields) =>
    defineType(
      `${name}_${layout}`,
      'For readers',
      { time: timestamp(layout === 'aligned' ? 'ns' : 'us'), ...fields },
      { layout },
    )
  const many = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [`f${i}`, optional(gauge(i % 2 === 0 ? 'u8' : 'i64'))]),
  )
  return [
    ...NUMERIC.map((kind) => type(kind, { port: labelNumber('u8'), one: value(kind), maybe: optional(value(kind)) })),
    type('bool', { on: gauge('bool'), maybe: optional(value('bool')), list: array(value('bool'), 3) }),
    type('text', {
      device: label(),
      state: optional(text()),
      name: chars(9),
      note: optional(chars(1, { role: 'value' })),
    }),
    type('lists', {
      u16s: array(value('u16'), 3),
      i64s: optional(array(value('i64'), 2)),
      f32s: array(gauge('f32'), 5),
    }),
    type('bins', { small: buckets('u32', [1, 2.5]), large: optional(buckets('u64', [10])) }),
    type('nest', { one: value('u8'), in: nested(side), maybe: optional(nested(point)), all: array(nested(point), 3) }),
    type('many', many),
  ]
})

/** A record of such a type, with the ends of each kind now and then. */
export function everyKindRecord(random: Random, type: RecordType, timeNs: bigint): RecordOf<RecordType> {
  return objectOf(random, type.fields, timeNs) as RecordOf<RecordType>
}

function objectOf(random: Random, fields: Fields, timeNs: bigint): Record<string, unknown> {
  const record: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(fields)) {
    if (field.optional && random.chance(0.4)) continue
    const one = () => (field.kind === 'record' ? objectOf(random, field.fields, timeNs) : anyOf(random, field.kind))
    if (field.role === 'timestamp') record[name] = timeNs / (field.resolution === 'us' ? 1000n : 1n)
    else if (field.kind === 'char')
      record[name] = field.count === 1 ? '' : random.pick(['', 'abc', 'Grüße', '12345678'])
    else record[name] = field.count === 1 ? one() : Array.from({ length: field.count }, one)
  }
  return record
}

function anyOf(random: Random, kind: Kind): unknown {
  if (kind === 'bool') return random.chance(0.5)
  if (kind === 'symbol') return random.chance(0.9) ? random.pick(TEXTS) : `t${random.integer(0, 5000)}`
  if (kind === 'f32' || kind === 'f64') return random.chance(0.3) ? random.pick(FLOATS) : random.next() * 1e6
  const bits = Number(kind.slice(1))
  const [low, high] = kind.startsWith('u')
    ? [0n, 2n ** BigInt(bits) - 1n]
    : [-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n]
  const end = random.chance(0.05) ? random.pick([low, high, 0n]) : undefined
  if (bits === 64) return end ?? (low === 0n ? random.bits64() : BigInt.asIntN(64, random.bits64()))
  return Number(end ?? low + BigInt(random.integer(0, 2 ** bits - 1)))
}
