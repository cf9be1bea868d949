import { addressFormOf } from './element.ts'
import { F32_OVERFLOW, KIND_RANGE, type Kind } from './kinds.ts'
import { type Layout, type LayoutNode, type NestedNode, type Slot, slotsOf } from './layout.ts'
import type { RecordType } from './record-type.ts'

/** How generated code reads the fields of a record, and what it does if a label gets no symbol. */
interface SourceOptions {
  /**
   * The expression for the value of a field; undefined if the field is absent. It has only numbers and fixed words.
   */
  readonly expressionOf?: (field: string) => string | undefined
  /** A statement that leaves the function. Default: `return false;` */
  readonly leave?: string
}

/** Generated code that stores one record at the offset `o`. */
interface RecordSource {
  /** Variables that keep their values between records; declared once, outside the function. */
  readonly state: string
  readonly body: string
  /** Whether the code needs ids of `texts`, which then must not be full. */
  readonly hasTexts: boolean
  /** The values of `k0`, `k1` and so on in the code: the argument `names` of the outer function. */
  readonly names: readonly string[]
}

/** The declared names of the views that the code writes to. */
export const VIEW_NAMES = '{u8,i8,u16,i16,u32,i32,f32,f64,u64,i64,data}'

/**
 * Generates code that stores a record of a type. The record is the object `r`, unless `expressionOf` gives other
 * expressions. The code calls `fail`, `text` and `addresses`, and looks up labels in `symbols`, other text in `texts`.
 *
 * Definitions also come from files and peers. Therefore the code has only numbers, indexes and fixed words; every text
 * of the definition is in `names`. Constants outside the function are as fast as literal names.
 */
export function recordSource(
  type: RecordType,
  { expressionOf, leave = 'return false;' }: SourceOptions = {},
): RecordSource {
  const { layout } = type
  const names: string[] = []
  const coding: Coding = { type: type.name, layout, leave, names }
  const symbols = layout.slots.filter((slot) => slot.field.kind === 'symbol')
  const texts = symbols.filter((slot) => slot.field.role !== 'label')
  const hasTexts = texts.length > 0
  const forget = symbols.map((slot) => `text${slot.index}='';id${slot.index}=0;`).join('')
  const remembered = symbols.map((slot) => `let text${slot.index}='',id${slot.index}=0;`).join('')
  const words = Array.from({ length: layout.presenceWords }, (_, word) => word)
  const nodes = layout.tree.map((node) => nodeSource(coding, node, expressionOf))
  const body = `let t,l,h;${symbols.length > 0 ? `if(texts.tableIndex!==table){table=texts.tableIndex;${forget}}` : ''}${words.map((word) => `let p${word}=${requiredBits(layout, word)};`).join('')}
${nodes.join('\n')}
${words.map((word) => storeSource(layout, 'u32', `${word * 4}`, `p${word}>>>0`)).join('')}`
  const constants = names.map((_, i) => `const k${i}=names[${i}];`).join('')
  return { state: `${symbols.length > 0 ? 'let table=-1;' : ''}${constants}${remembered}`, body, hasTexts, names }
}

interface Coding {
  readonly type: string
  readonly layout: Layout
  readonly leave: string
  readonly names: string[]
}

/** The constant for a text of the definition. */
function constantOf({ names }: Coding, text: string): string {
  return `k${names.push(text) - 1}`
}

/** The constant for the path of a field, for an error. */
function fieldPathConstant(coding: Coding, place: string): string {
  return constantOf(coding, `${coding.type}.${place}`)
}

/** The presence bits of the required fields of a word; each optional field adds its own bit. */
function requiredBits(layout: Layout, word: number): number {
  return layout.slots
    .filter(({ field, index }) => !field.optional && index >> 5 === word)
    .reduce((bits, { index }) => bits | (1 << (index & 31)), 0)
}

/** The code for one field. */
function nodeSource(coding: Coding, node: LayoutNode, expressionOf?: SourceOptions['expressionOf']): string {
  const value = expressionOf === undefined ? memberOf(coding, node.key) : expressionOf(node.key)
  const clear = () => slotsOf(node).map((slot) => clearSource(coding.layout, slot))
  if (value === undefined) return clear().join(';')
  const present = 'slot' in node ? slotSource(coding, node.slot) : nestedSource(coding, node)
  return node.optional ? `t=${value};if(t===undefined){${clear().join(';')}}else{${present}}` : `t=${value};${present}`
}

/** Names such as `toString`, which every object inherits: only these need a check of own properties. */
function memberOf(coding: Coding, field: string): string {
  const key = constantOf(coding, field)
  return field in {} ? `Object.hasOwn(r,${key})?r[${key}]:undefined` : `r[${key}]`
}

function slotSource(coding: Coding, slot: Slot): string {
  const { field, index } = slot
  const write = field.kind === 'char' || field.count === 1 ? scalarSource : arraySource
  const form = addressFormOf(field)
  const parse =
    form === undefined ? '' : `if(typeof t==='string')t=addresses.${form}(${fieldPathConstant(coding, slot.name)},t);`
  const mark = field.optional ? `p${index >> 5}|=${1 << (index & 31)};` : ''
  return mark + parse + write(coding, slot)
}

/** Each nested record gets a block of its own, in which `r` is that record. */
function nestedSource(coding: Coding, { path, field, elements }: NestedNode): string {
  const place = fieldPathConstant(coding, path)
  const allowed = constantOf(coding, `a record like ${field.type}`)
  const isNone = (record: string) => `${record}===null||typeof ${record}!=='object'`
  const block = (record: string, nodes: readonly LayoutNode[]) => `t=${record};{const r=t;
if(${isNone('r')})fail(${place},r,${allowed});
${nodes.map((node) => nodeSource(coding, node)).join('\n')}}`
  if (field.count === 1) return block('t', elements[0] ?? [])
  const blocks = elements.map((nodes, i) => block(`a[${i}]`, nodes)).join('\n')
  return `{const a=t;if(${isNone('a')}||a.length!==${field.count})fail(${place},a,'an array of ${field.count} records');
${blocks}}`
}

/**
 * Code that writes zeros over an absent field, so that no byte of an earlier record remains. A store of a single number
 * is cheaper than a fill.
 */
function clearSource(layout: Layout, { field, offset, bytes }: Slot): string {
  if (field.count > 1) return `u8.fill(0,o+${offset},o+${offset + bytes})`
  if (bytes < 4) return storeSource(layout, bytes === 1 ? 'u8' : 'u16', `${offset}`, '0')
  const words = Array.from({ length: bytes / 4 }, (_, word) => `${offset + word * 4}`)
  return words.map((at) => storeSource(layout, 'u32', at, '0')).join('')
}

function arraySource(coding: Coding, slot: Slot): string {
  const place = fieldPathConstant(coding, slot.name)
  const { count, kind } = slot.field
  const width = slot.bytes / count
  const element = elementSource(coding.layout, kind, `${slot.offset}+i*${width}`, place)
  return `{const a=t;if(a===null||typeof a!=='object'||a.length!==${count})fail(${place},a,'an array of ${count} elements');
for(let i=0;i<${count};i++){t=a[i];${element}}}`
}

function scalarSource(coding: Coding, slot: Slot): string {
  const { layout, leave } = coding
  const place = fieldPathConstant(coding, slot.name)
  if (slot.field.kind === 'char') return `text(${place},t,u8,o+${slot.offset},${slot.field.count});`
  if (slot.field.kind === 'symbol') {
    const store = storeSource(layout, 'u32', `${slot.offset}`, `id${slot.index}`)
    const intern =
      slot.field.role === 'label'
        ? `const n=symbols.idOfLabel(t);if(n===undefined){${leave}}id${slot.index}=n;`
        : `id${slot.index}=texts.id(t);`
    return `if(t!==text${slot.index}){if(typeof t!=='string')fail(${place},t,'text');${intern}text${slot.index}=t}${store}`
  }
  return elementSource(layout, slot.field.kind, `${slot.offset}`, place)
}

function elementSource(layout: Layout, kind: Kind, at: string, place: string): string {
  const store = (as: Kind, value: string, offset = at) => storeSource(layout, as, offset, value)
  switch (kind) {
    case 'f32': {
      // A finite number must not become infinite. Infinity itself is allowed.
      const overflows = `Math.abs(t)>=${F32_OVERFLOW}&&t-t===0`
      return `if(typeof t!=='number'||${overflows})fail(${place},t,'a number that f32 holds');${store(kind, 't')}`
    }
    case 'f64':
      return `if(typeof t!=='number')fail(${place},t,'a number');${store(kind, 't')}`
    case 'bool':
      return `if(typeof t!=='boolean')fail(${place},t,'true or false');${store('u8', 't?1:0')}`
    case 'u64': {
      const words = `${store('u32', 'l')}${store('u32', 'h', `${at}+4`)}`
      return `if(typeof t==='number'){l=t>>>0;if(l===t)h=0;else{h=t/4294967296>>>0;if(h>2097151||h*4294967296+l!==t)fail(${place},t,'an integer from 0 to 2^64 - 1, from 2^53 on as a bigint')}${words}}
else{if(typeof t!=='bigint'||t<0n||t>0xffffffffffffffffn)fail(${place},t,'an integer from 0 to 2^64 - 1, from 2^53 on as a bigint');${store('u64', 't')}}`
    }
    case 'i64': {
      const words = `${store('u32', 't>>>0')}${store('i32', 'Math.floor(t/4294967296)', `${at}+4`)}`
      return `if(typeof t==='number'){if(!Number.isSafeInteger(t))fail(${place},t,'an integer, from 2^53 on as a bigint');${words}}
else{if(typeof t!=='bigint'||BigInt.asIntN(64,t)!==t)fail(${place},t,'an integer from -2^63 to 2^63 - 1');${store('i64', 't')}}`
    }
    default: {
      const [low, high] = KIND_RANGE[kind] ?? [0, 0]
      return `if(typeof t!=='number'||${WRAPPED[kind]}!==t)fail(${place},t,'an integer from ${low} to ${high}');${store(kind, 't')}`
    }
  }
}

/** The value that a kind stores for a number: the number itself if it fits. */
const WRAPPED: Readonly<Record<string, string>> = {
  u8: '(t&255)',
  i8: '(t<<24>>24)',
  u16: '(t&65535)',
  i16: '(t<<16>>16)',
  u32: '(t>>>0)',
  i32: '(t|0)',
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
