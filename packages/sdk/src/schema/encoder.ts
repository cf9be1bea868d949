import { SondeError, shown } from '../errors.ts'
import { KIND_RANGE, type Kind } from './kinds.ts'
import { type Layout, type LayoutNode, type NestedNode, type Slot, slotsOf } from './layout.ts'
import type { Fields, RecordType } from './record-type.ts'
import type { SymbolTable } from './symbols.ts'
import type { Views } from './views.ts'

/**
 * Writes one record at a byte offset. Throws `SRC_VALUE` before the record counts as written. False where the text of a label found the symbol table full: the
 * record is not written then.
 */
export type Encode = (record: object, views: Views, offset: number) => boolean

type Factory = (symbols: SymbolTable, fail: typeof failValue, text: typeof writeText) => Encode

const factories = new WeakMap<RecordType, Factory>()

/**
 * The encoder of a type for one writer. Its code is generated once a type: straight stores into typed arrays (or a DataView in a packed
 * layout), which is some ten times faster than a loop over fields.
 */
export function encoderOf(type: RecordType<Fields>, symbols: SymbolTable): Encode {
  let factory = factories.get(type)
  if (factory === undefined) {
    factory = new Function('symbols', 'fail', 'text', encoderSource(type)) as Factory
    factories.set(type, factory)
  }
  return factory(symbols, failValue, writeText)
}

function encoderSource(type: RecordType): string {
  const { layout } = type
  const symbols = layout.slots.filter((slot) => slot.field.kind === 'symbol')
  const state = symbols.map((slot) => `let text${slot.index}='',id${slot.index}=0;`).join('')
  const words = Array.from({ length: layout.presenceWords }, (_, word) => word)
  const body = layout.tree.map((node) => nodeSource(type.name, layout, node)).join('\n')
  return `"use strict";${state}
return function encode_${type.name.replace(/\W/g, '_')}(r,v,o){
if(r===null||typeof r!=='object')fail(${JSON.stringify(type.name)},r,'a record');
const {u8,i8,u16,i16,u32,i32,f32,f64,u64,i64,data}=v;let t,l,h;
${words.map((word) => `let p${word}=${requiredBits(layout, word)};`).join('')}
${body}
${words.map((word) => storeSource(layout, 'u32', `${word * 4}`, `p${word}>>>0`)).join('')}
return true
}`
}

/** The bits of the fields that cannot be absent, in a word of presence; each optional field adds its own. */
function requiredBits(layout: Layout, word: number): number {
  return layout.slots
    .filter(({ field, index }) => !field.optional && index >> 5 === word)
    .reduce((bits, { index }) => bits | (1 << (index & 31)), 0)
}

/** Stores one field of the record `r`. */
function nodeSource(type: string, layout: Layout, node: LayoutNode): string {
  const key = JSON.stringify(node.key)
  // Every object has a `toString`; only such names are looked up with care.
  const read = node.key in {} ? `t=Object.hasOwn(r,${key})?r[${key}]:undefined;` : `t=r[${key}];`
  const present = 'slot' in node ? slotSource(type, layout, node.slot) : nestedSource(type, layout, node)
  if (!node.optional) return `${read}${present}`
  const clear = slotsOf(node).map((slot) => clearSource(layout, slot))
  return `${read}if(t===undefined){${clear.join(';')}}else{${present}}`
}

function slotSource(type: string, layout: Layout, slot: Slot): string {
  const { field, index } = slot
  const write = field.kind === 'char' || field.count === 1 ? scalarSource : arraySource
  const mark = field.optional ? `p${index >> 5}|=${1 << (index & 31)};` : ''
  return mark + write(type, layout, slot)
}

/** The records inside have blocks of their own, in which `r` is theirs. */
function nestedSource(type: string, layout: Layout, { path, field, elements }: NestedNode): string {
  const name = JSON.stringify(`${type}.${path}`)
  const isNone = (record: string) => `${record}===null||typeof ${record}!=='object'`
  const block = (record: string, nodes: readonly LayoutNode[]) => `t=${record};{const r=t;
if(${isNone('r')})fail(${name},r,'a record like ${field.type}');
${nodes.map((node) => nodeSource(type, layout, node)).join('\n')}}`
  if (field.count === 1) return block('t', elements[0] ?? [])
  const blocks = elements.map((nodes, i) => block(`a[${i}]`, nodes)).join('\n')
  return `{const a=t;if(${isNone('a')}||a.length!==${field.count})fail(${name},a,'an array of ${field.count} records');
${blocks}}`
}

/** Zeros over an absent field, so that nothing of an earlier record is left. A single number is cheaper to store than to fill. */
function clearSource(layout: Layout, { field, offset, bytes }: Slot): string {
  if (field.count > 1) return `u8.fill(0,o+${offset},o+${offset + bytes})`
  if (bytes < 4) return storeSource(layout, bytes === 1 ? 'u8' : 'u16', `${offset}`, '0')
  const words = Array.from({ length: bytes / 4 }, (_, word) => `${offset + word * 4}`)
  return words.map((at) => storeSource(layout, 'u32', at, '0')).join('')
}

function arraySource(type: string, layout: Layout, slot: Slot): string {
  const name = JSON.stringify(`${type}.${slot.name}`)
  const { count, kind } = slot.field
  const width = slot.bytes / count
  const element = elementSource(layout, kind, `${slot.offset}+i*${width}`, name)
  return `{const a=t;if(a===null||typeof a!=='object'||a.length!==${count})fail(${name},a,'an array of ${count} elements');
for(let i=0;i<${count};i++){t=a[i];${element}}}`
}

function scalarSource(type: string, layout: Layout, slot: Slot): string {
  const name = JSON.stringify(`${type}.${slot.name}`)
  if (slot.field.kind === 'char') return `text(${name},t,u8,o+${slot.offset},${slot.field.count});`
  if (slot.field.kind === 'symbol') {
    const store = storeSource(layout, 'u32', `${slot.offset}`, `id${slot.index}`)
    const intern =
      slot.field.role === 'label'
        ? `const n=symbols.idOfLabel(t);if(n===undefined)return false;id${slot.index}=n;`
        : `id${slot.index}=symbols.id(t);`
    return `if(t!==text${slot.index}){if(typeof t!=='string')fail(${name},t,'text');${intern}text${slot.index}=t}${store}`
  }
  return elementSource(layout, slot.field.kind, `${slot.offset}`, name)
}

function elementSource(layout: Layout, kind: Kind, at: string, name: string): string {
  const store = (as: Kind, value: string, offset = at) => storeSource(layout, as, offset, value)
  switch (kind) {
    case 'f32':
    case 'f64':
      return `if(typeof t!=='number')fail(${name},t,'a number');${store(kind, 't')}`
    case 'bool':
      return `if(typeof t!=='boolean')fail(${name},t,'true or false');${store('u8', 't?1:0')}`
    case 'u64': {
      const words = `${store('u32', 'l')}${store('u32', 'h', `${at}+4`)}`
      return `if(typeof t==='number'){l=t>>>0;h=t/4294967296>>>0;if(h*4294967296+l!==t)fail(${name},t,'an integer from 0 to 2^64 - 1');${words}}
else{if(typeof t!=='bigint'||t<0n||t>0xffffffffffffffffn)fail(${name},t,'an integer from 0 to 2^64 - 1');${store('u64', 't')}}`
    }
    case 'i64': {
      const words = `${store('u32', 't>>>0')}${store('i32', 'Math.floor(t/4294967296)', `${at}+4`)}`
      return `if(typeof t==='number'){if(!Number.isSafeInteger(t))fail(${name},t,'an integer');${words}}
else{if(typeof t!=='bigint'||BigInt.asIntN(64,t)!==t)fail(${name},t,'an integer from -2^63 to 2^63 - 1');${store('i64', 't')}}`
    }
    default: {
      const [low, high] = KIND_RANGE[kind] ?? [0, 0]
      const whole = kind === 'u32' ? '(t>>>0)!==t' : '(t|0)!==t'
      return `if(typeof t!=='number'||${whole}||t<${low}||t>${high})fail(${name},t,'an integer from ${low} to ${high}');${store(kind, 't')}`
    }
  }
}

const SETTERS: Readonly<Record<string, string>> = {
  u8: 'Uint8',
  i8: 'Int8',
  u16: 'Uint16',
  i16: 'Int16',
  u32: 'Uint32',
  i32: 'Int32',
  f32: 'Float32',
  f64: 'Float64',
  u64: 'BigUint64',
  i64: 'BigInt64',
}
const SHIFTS: Readonly<Record<string, number>> = {
  u8: 0,
  i8: 0,
  u16: 1,
  i16: 1,
  u32: 2,
  i32: 2,
  f32: 2,
  f64: 3,
  u64: 3,
  i64: 3,
}

function storeSource(layout: Layout, kind: Kind, at: string, value: string): string {
  return layout.kind === 'packed'
    ? `data.set${SETTERS[kind]}(o+${at},${value},true);`
    : `${kind}[(o+${at})>>>${SHIFTS[kind]}]=${value};`
}

function failValue(place: string, given: unknown, allowed: string): never {
  throw new SondeError('SRC_VALUE', `${place} was given ${shown(given)}; allowed: ${allowed}`)
}

const utf8 = new TextEncoder()

function writeText(place: string, given: unknown, bytes: Uint8Array, offset: number, room: number): void {
  if (typeof given !== 'string') failValue(place, given, 'text')
  let at = offset
  const end = offset + room
  for (let i = 0; i < given.length; i++) {
    const code = given.charCodeAt(i)
    if (code > 0x7f || code === 0 || at >= end - 1) {
      writeWideText(place, given, bytes, offset, room)
      return
    }
    bytes[at++] = code
  }
  bytes.fill(0, at, end)
}

/** Anything but short ASCII: whole characters only, and an error rather than a silent cut, at the end or at a NUL. */
function writeWideText(place: string, given: string, bytes: Uint8Array, offset: number, room: number): void {
  const encoded = utf8.encode(given)
  if (encoded.length > room - 1 || encoded.includes(0)) {
    failValue(place, given, `at most ${room - 1} bytes of UTF-8 without NUL`)
  }
  bytes.set(encoded, offset)
  bytes.fill(0, offset + encoded.length, offset + room)
}
