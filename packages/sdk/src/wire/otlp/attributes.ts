import { ProtobufWriter } from '../protobuf/writer.ts'

/** The value of an attribute. A `bigint` has to fit 64 bits with a sign. */
export type AttributeValue = string | number | bigint | boolean

/** Numbers of the fields of `AnyValue`. */
const VALUE = { string: 1, bool: 2, int: 3, double: 4 } as const

const scratch = new ProtobufWriter()

/**
 * Encodes attributes as `KeyValue` messages in the field of a given number, in the order of their names. Attributes
 * that are empty texts are left out: they mean the same as none. Pure.
 */
export function encodeAttributes(
  field: number,
  attributes: Readonly<Record<string, AttributeValue>>,
): Uint8Array<ArrayBuffer> {
  scratch.clear()
  for (const [name, value] of Object.entries(attributes).reverse()) {
    if (value === '') continue
    const end = scratch.size
    writeValue(scratch, 2, value)
    scratch.text(1, name)
    scratch.close(field, end)
  }
  return scratch.finish()
}

/** Writes a field of the type `AnyValue`. */
export function writeValue(writer: ProtobufWriter, field: number, value: AttributeValue): void {
  const end = writer.size
  switch (typeof value) {
    case 'string':
      writer.text(VALUE.string, value)
      break
    case 'boolean':
      writer.uint(VALUE.bool, value ? 1 : 0)
      break
    case 'bigint':
      writer.int(VALUE.int, value)
      break
    default:
      if (Number.isSafeInteger(value)) writer.int(VALUE.int, BigInt(value))
      else writer.double(VALUE.double, value)
  }
  writer.close(field, end)
}
