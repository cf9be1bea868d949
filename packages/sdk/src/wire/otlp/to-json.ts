import { type ProtobufField, readFields } from '../protobuf/reader.ts'
import { fieldOf, type MessageField, type MessageName } from './messages.ts'

const utf8 = new TextDecoder()

/**
 * A message in the JSON of OTLP: names in lower camel case, enumerations as numbers, ids in hex, 64-bit integers as
 * texts. NaN and the infinities are texts too. Made from the bytes, so that both encodings carry the same. Pure.
 */
export function messageToJson(name: MessageName, bytes: Uint8Array): string {
  const members = new Map<string, string | string[]>()
  for (const each of readFields(bytes)) {
    const field = fieldOf(name, each.field)
    if (field === undefined) continue
    if (!field.isList) {
      members.set(field.name, valueText(field, each))
      continue
    }
    const list = (members.get(field.name) ?? []) as string[]
    list.push(...elementTexts(field, each))
    members.set(field.name, list)
  }
  const texts = Array.from(members, ([key, value]) => `"${key}":${typeof value === 'string' ? value : `[${value}]`}`)
  return `{${texts}}`
}

/** The elements of one occurrence of a repeated field: numbers are packed. */
function elementTexts(field: MessageField, each: ProtobufField): string[] {
  if (field.type !== 'double' && field.type !== 'fixed64') return [valueText(field, each)]
  const { bytes } = each
  return Array.from({ length: bytes.length / 8 }, (_, i) =>
    valueText(field, { ...each, bytes: bytes.subarray(i * 8, i * 8 + 8) }),
  )
}

function valueText({ type }: MessageField, { value, bytes }: ProtobufField): string {
  const data = () => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  switch (type) {
    case 'string':
      return JSON.stringify(utf8.decode(bytes))
    case 'bool':
      return value === 0n ? 'false' : 'true'
    case 'int64':
      return `"${value}"`
    case 'uint32':
      return String(value)
    case 'fixed32':
      return String(data().getUint32(0, true))
    case 'fixed64':
      return `"${data().getBigUint64(0, true)}"`
    case 'sfixed64':
      return `"${data().getBigInt64(0, true)}"`
    case 'double':
      return doubleText(data().getFloat64(0, true))
    case 'hex':
      return `"${Buffer.from(bytes).toString('hex')}"`
    default:
      return messageToJson(type, bytes)
  }
}

/** As the JSON of protobuf writes doubles. */
function doubleText(value: number): string {
  if (Number.isFinite(value)) return String(value)
  return Number.isNaN(value) ? '"NaN"' : value > 0 ? '"Infinity"' : '"-Infinity"'
}
