// Generated code holds numbers, indexes and fixed words only: never a text of a definition, which may come from a file
// or a peer.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { sondeError } from '../../test/helper.ts'
import { createSource, type Source } from '../source/source.ts'
import {
  array,
  buckets,
  chars,
  counter,
  type Field,
  gauge,
  label,
  labelNumber,
  type NestedField,
  nested,
  optional,
  text,
  timestamp,
  value,
} from './field.ts'
import { defineType, type Fields, type RecordType } from './record-type.ts'

const KINDS = ['u8', 'i8', 'u16', 'i16', 'u32', 'i32', 'u64', 'i64', 'f32', 'f64'] as const

/** Texts that end literals, comments and statements, or name what every object has. */
const TEXTS = [
  '"',
  "'",
  '`',
  '\n',
  '\u2028',
  '*/',
  '//',
  '${',
  '\\',
  '__proto__',
  'constructor',
  'toString',
  '})();hostile()',
]

/** Every word that generated code may hold beside numbers, and constants, arguments and variables with one. */
const WORDS = new Set(
  `use strict let const if else for return function null undefined typeof true false
  object string number bigint boolean text an array of elements records record integer from to on as that holds a or f32
  data u8 i8 u16 i16 u32 i32 f32 f64 u64 i64 r v o t l h i a n
  names typeName symbols texts addresses ipv4 ipv6 mac table tableIndex isFull replaceTexts succeed fail buffer source refuseTime idOfLabel id views length fill count isClosed refuse send drop hasOwn
  Object Math Number BigInt abs floor isSafeInteger asIntN
  setUint8 setInt8 setUint16 setInt16 setUint32 setInt32 setFloat32 setFloat64 setBigUint64 setBigInt64 getUint32`.split(
    /\s+/,
  ),
)
const NUMBERED = /^(k|p|id|text|a|encode|report)\d*$/
const TOKEN = /[A-Za-z_$][\w$]*|0x[0-9a-f]+n?|\d+(?:\.\d+)?(?:e[+-]?\d+)?n?|[-+*/%&|^~!<>=?:;,.(){}[\]'"\s]/gy

/** The code of every function that is generated while `run` runs. */
function generated(t: TestContext, run: () => void): string[] {
  const codes: string[] = []
  const real = globalThis.Function
  t.after(() => {
    globalThis.Function = real
  })
  globalThis.Function = class extends real {
    constructor(...parts: string[]) {
      super(...parts)
      codes.push(parts.join('\n'))
    }
  } as FunctionConstructor
  run()
  globalThis.Function = real
  return codes
}

/** What of a code is on no list. */
function strangersIn(code: string): string[] {
  const tokens = code.match(TOKEN) ?? []
  const rest = code.slice(tokens.join('').length)
  const words = tokens.filter((token) => /^[A-Za-z_$]/.test(token))
  return [
    ...new Set([...words.filter((word) => !WORDS.has(word) && !NUMBERED.test(word)), ...(rest === '' ? [] : [rest])]),
  ]
}

/** A type of every kind of field, alone, optional, as an array and nested. */
function everyType(layout: 'aligned' | 'packed'): RecordType {
  const numbers = Object.fromEntries(KINDS.map((kind) => [`n_${kind}`, counter(kind)]))
  const lacking = Object.fromEntries(KINDS.map((kind) => [`o_${kind}`, optional(gauge(kind))]))
  const arrays = Object.fromEntries(KINDS.map((kind) => [`a_${kind}`, optional(array(value(kind), 3))]))
  const inner = defineType('inner', 'Inside', { side: label(), word: text(), ...numbers })
  const plain = defineType('plain', 'Inside an array', { ...numbers, word: optional(text()) })
  return defineType(
    'every',
    'Every kind',
    {
      time: timestamp(),
      name: label(),
      port: labelNumber('u16'),
      foreign: chars(9),
      word: optional(text()),
      flag: gauge('bool'),
      bins: optional(buckets('u64', [1, 2])),
      inner: nested(inner),
      lanes: optional(array(nested(plain), 2)),
      ...numbers,
      ...lacking,
      ...arrays,
    },
    { layout },
  )
}

const FIXED = new Set(['kind', 'role', 'resolution', 'layout'])

/** The type with every text of its definition replaced, as if nothing had checked one. */
function hostile(type: RecordType, text: string): RecordType {
  const seen = new Map<object, unknown>()
  let count = 0
  const change = (given: unknown, key: string): unknown => {
    if (typeof given === 'string') return FIXED.has(key) ? given : `${text}${count++}`
    if (given === null || typeof given !== 'object') return given
    if (seen.has(given)) return seen.get(given)
    const made: unknown[] | Record<string, unknown> = Array.isArray(given) ? [] : {}
    seen.set(given, made)
    for (const [name, inner] of Object.entries(given)) (made as Record<string, unknown>)[name] = change(inner, name)
    return made
  }
  const { fields, layout, time, metrics: _none, labels: _same, ...texts } = type
  const { kind, ...rest } = layout
  const changed = change({ texts, layout: rest, time }, '') as Pick<RecordType, 'time'> & {
    readonly texts: Partial<RecordType>
    readonly layout: Omit<RecordType['layout'], 'kind'>
  }
  const names = changed.layout.tree.map(({ key }, i) => [key, Object.values(fields)[i]] as const)
  return {
    ...type,
    ...changed.texts,
    time: changed.time,
    fields: Object.fromEntries(names) as Fields,
    layout: { ...changed.layout, kind },
  }
}

/** Has encoder and reporter of a type made, and both called. */
function use(source: Source, type: RecordType): void {
  const names = Object.keys(type.fields)
  assert.throws(() => source.report(type, {} as never), sondeError('SRC_VALUE'))
  const report = source.reporter(type, names as never) as (...values: unknown[]) => void
  assert.throws(() => report(), sondeError('SRC_VALUE'))
  source.reporter(type, names.filter((name) => type.fields[name]?.optional !== true) as never)
}

test('code made for definitions of any text holds numbers, indexes and words of a list', (t) => {
  for (const layout of ['aligned', 'packed'] as const) {
    const type = everyType(layout)
    for (const word of TEXTS) {
      const codes = generated(t, () => {
        use(createSource({ id: 'a', emit: () => undefined }), hostile(type, word))
      })
      assert.equal(codes.length, 3)
      for (const code of codes) assert.deepEqual(strangersIn(code), [], `${layout}, texts of ${JSON.stringify(word)}`)
    }
  }
})

test('a nested record is of a type that has a name', () => {
  for (const text of TEXTS) {
    const field = { ...nested(defineType('inner', '', { n: value('u8') })), type: text } as NestedField | Field
    const declare = () => defineType('outer', '', { inner: field })
    if (/^\w+$/.test(text) && text !== '__proto__') declare()
    else assert.throws(declare, sondeError('SCH_NAME', /the record in field inner of type outer/))
  }
})
