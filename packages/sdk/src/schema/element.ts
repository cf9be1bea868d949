import { isIPv6 } from 'node:net'
import { closest } from '../config/closest.ts'
import { SondeError, shown } from '../errors.ts'
import { ELEMENTS, type ElementForm } from './elements.ts'
import { array, chars, type Field, type Integer64, value } from './field.ts'
import type { Kind } from './kinds.ts'

/** The forms whose values are written and read as text. */
export type AddressForm = 'ipv4' | 'ipv6' | 'mac'

/** Names of information elements, as the DOCA telemetry API has them, without its prefix. */
export type ElementName = { [F in ElementForm]: keyof (typeof ELEMENTS)[F] }[ElementForm] & string

type FormOf<N> = { [F in ElementForm]: N extends keyof (typeof ELEMENTS)[F] ? F : never }[ElementForm]

/** The value of an element in a record. An address is text, or its number or bytes. */
type ElementValue<F> = F extends 'u64'
  ? Integer64
  : F extends 'ipv4'
    ? string | number
    : F extends 'ipv6' | 'mac'
      ? string | readonly number[]
      : F extends 'string'
        ? string
        : number

/** Names of elements whose field has no usual size. */
type BareName = keyof (typeof ELEMENTS)['octets']

/** Size of a text without a field. Unit: bytes. */
const TEXT_BYTES = 64

/** The kinds that a form allows, the usual kind first, and the number of elements. Default of `count`: 1 or more. */
const SHAPES: Readonly<Record<ElementForm, { readonly kinds: readonly Kind[]; readonly count?: number }>> = {
  u8: { kinds: ['u8'], count: 1 },
  u16: { kinds: ['u16', 'u8'], count: 1 },
  u32: { kinds: ['u32', 'u16', 'u8'], count: 1 },
  u64: { kinds: ['u64', 'u32', 'u16', 'u8'], count: 1 },
  i32: { kinds: ['i32', 'i16', 'i8'], count: 1 },
  f64: { kinds: ['f64', 'f32'], count: 1 },
  ipv4: { kinds: ['u32'], count: 1 },
  ipv6: { kinds: ['u8'], count: 16 },
  mac: { kinds: ['u8'], count: 6 },
  string: { kinds: ['char'] },
  octets: { kinds: ['u8'] },
}

const BY_NAME = new Map<string, { readonly id: number; readonly form: ElementForm }>()
const FORMS = new Map<number, ElementForm>()
for (const [form, elements] of Object.entries(ELEMENTS)) {
  for (const [name, id] of Object.entries(elements)) {
    BY_NAME.set(name, { id, form: form as ElementForm })
    FORMS.set(id, form as ElementForm)
  }
}

/**
 * A field that NetFlow and IPFIX send as an information element. The size of the field is that of the element in the
 * packet. Without a field it is a value of the usual size: integers as in {@link ELEMENTS}, text of 64 bytes.
 *
 * Addresses are text in a record, such as `192.0.2.1`, or their number (IPv4) or bytes.
 *
 * @throws SondeError `SCH_ELEMENT` for an unknown name, and a field whose kind or size the element cannot have.
 * @example
 * const flow = defineType('flow', 'A flow', {
 *   time: timestamp(),
 *   from: element('IPV4_SRC_ADDR'),
 *   port: element('L4_SRC_PORT', labelNumber('u16')),
 *   bytes: element('IN_BYTES', counter('u64', { unit: 'bytes' })),
 * })
 */
export function element<N extends Exclude<ElementName, BareName>>(name: N): Field<ElementValue<FormOf<N>>, false>
export function element<N extends ElementName, V, O extends boolean>(
  name: N,
  field: Field<V, O>,
): Field<FormOf<N> extends AddressForm ? ElementValue<FormOf<N>> : V, O>
export function element(name: string, field?: Field): Field {
  const known = BY_NAME.get(name)
  if (known === undefined) {
    const near = typeof name === 'string' ? closest(name, [...BY_NAME.keys()]) : undefined
    const advice = near === undefined ? 'the constants of the DOCA telemetry API without their prefix' : `${near}?`
    throw new SondeError('SCH_ELEMENT', `${shown(name)} is no information element; allowed: ${advice}`)
  }
  const made = { ...(field ?? usualField(name, known.form)), element: known.id }
  const fault = faultOfElement(made)
  if (fault !== undefined)
    throw new SondeError('SCH_ELEMENT', `element ${name} has ${fault.given}; allowed: ${fault.allowed}`)
  return made
}

function usualField(name: string, form: ElementForm): Field {
  const { kinds, count = 0 } = SHAPES[form]
  const [kind] = kinds
  if (kind === 'char') return chars(TEXT_BYTES, { role: 'value' })
  if (kind === undefined || count === 0)
    throw new SondeError(
      'SCH_ELEMENT',
      `element ${name} has no field; allowed: its bytes, such as array(value('u8'), 4)`,
    )
  const one = value(kind as 'u8')
  return count === 1 ? one : (array(one, count) as Field)
}

/** Why a field cannot be the element that it names; undefined if it can. An unknown number may be any field. */
export function faultOfElement({
  element: id,
  kind,
  role,
  count,
}: Field): { readonly given: string; readonly allowed: string } | undefined {
  if (id === undefined) return undefined
  if (!Number.isInteger(id) || id < 1 || id > 0x7fff)
    return { given: `number ${shown(id)}`, allowed: 'a number of IANA, 1 to 32767' }
  const form = FORMS.get(id)
  if (kind === 'symbol' || role === 'timestamp' || role === 'bucket')
    return { given: `a field of kind ${kind} and role ${role}`, allowed: 'a field of fixed size that is no time' }
  if (form === undefined) return undefined
  const { kinds, count: wanted } = SHAPES[form]
  const isFit = kinds.includes(kind) && (wanted ?? count) === count
  // Other ways to a label than readField would show its number.
  if (isFit && !(isAddress(form) && role !== 'value')) return undefined
  const elements = wanted === undefined ? ' of any size' : wanted === 1 ? '' : ` with ${wanted} elements`
  const given = `a ${role} of kind ${kind} with ${count} elements`
  return { given, allowed: `a ${isAddress(form) ? 'value' : 'field'} of kind ${kinds.join(', ')}${elements}` }
}

function isAddress(form: ElementForm): form is AddressForm {
  return form === 'ipv4' || form === 'ipv6' || form === 'mac'
}

/** The form of an address field; undefined for any other field. The field has passed {@link faultOfElement}. */
export function addressFormOf({ element: id }: Pick<Field, 'element'>): AddressForm | undefined {
  if (id === undefined) return undefined
  const form = FORMS.get(id)
  return form !== undefined && isAddress(form) ? form : undefined
}

/** The text of an address. Pure. */
export function addressText(form: AddressForm, bytes: Uint8Array): string {
  if (form === 'ipv4') return bytes.join('.')
  const hex = (at: number, digits: number) => (bytes[at] ?? 0).toString(16).padStart(digits, '0')
  if (form === 'mac') return Array.from(bytes, (_, i) => hex(i, 2)).join(':')
  const groups = Array.from({ length: 8 }, (_, i) => ((bytes[2 * i] ?? 0) * 256 + (bytes[2 * i + 1] ?? 0)).toString(16))
  return shortened(groups)
}

/** IPv6 as RFC 5952 writes it: the longest run of at least two zeros becomes `::`. */
function shortened(groups: readonly string[]): string {
  let [start, length] = [0, 1]
  for (let i = 0; i < groups.length; i++) {
    let end = i
    while (groups[end] === '0') end++
    if (end - i > length) [start, length] = [i, end - i]
  }
  if (length === 1) return groups.join(':')
  return `${groups.slice(0, start).join(':')}::${groups.slice(start + length).join(':')}`
}

/** The number of an IPv4 address; undefined if the text is none. Pure. */
export function parseIpv4(text: string): number | undefined {
  let [number, part, digits, dots] = [0, 0, 0, 0]
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 46) {
      if (digits === 0 || ++dots > 3) return undefined
      number = number * 256 + part
      part = digits = 0
      continue
    }
    if (code < 48 || code > 57 || (digits > 0 && part === 0)) return undefined
    part = part * 10 + code - 48
    digits++
    if (part > 255) return undefined
  }
  return dots === 3 && digits > 0 ? number * 256 + part : undefined
}

/** The 16 bytes of an IPv6 address; undefined if the text is none, or has a zone. Pure. */
export function parseIpv6(text: string): readonly number[] | undefined {
  if (!isIPv6(text) || text.includes('%')) return undefined
  const lastColon = text.lastIndexOf(':')
  const tail = parseIpv4(text.slice(lastColon + 1))
  const groups =
    tail === undefined
      ? text
      : `${text.slice(0, lastColon + 1)}${(tail >>> 16).toString(16)}:${(tail & 0xffff).toString(16)}`
  const [before = '', after] = groups.split('::').map((half) => half)
  const head = before === '' ? [] : before.split(':')
  const end = after === undefined || after === '' ? [] : after.split(':')
  const zeros = Array.from({ length: 8 - head.length - end.length }, () => '0')
  return [...head, ...zeros, ...end].flatMap((group) => {
    const word = Number.parseInt(group, 16)
    return [word >> 8, word & 0xff]
  })
}

/** The 6 bytes of a MAC address with colons or hyphens; undefined if the text is none. Pure. */
export function parseMac(text: string): readonly number[] | undefined {
  if (!/^[0-9a-f]{2}([:-][0-9a-f]{2}){5}$/i.test(text)) return undefined
  return text.split(/[:-]/).map((byte) => Number.parseInt(byte, 16))
}
