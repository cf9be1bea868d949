import { readFileSync } from 'node:fs'

type Layout = Readonly<Record<string, { readonly size: number; readonly fields: Readonly<Record<string, Place>> }>>
type Place = readonly [at: number, bytes: number]

const LAYOUT: Layout = JSON.parse(readFileSync(new URL('fixtures/layout.json', import.meta.url), 'utf8'))

/** Structures of fields whose name differs from the name of their structure. */
const NESTED: Readonly<Record<string, string>> = {
  module_temperature: 'temperature',
  module_voltage: 'voltage',
  symbol_errors: 'symbol_error',
  effective_errors: 'effective_error',
  raw_errors: 'raw_error',
  symbol_ber: 'ber',
  effective_ber: 'ber',
  raw_ber: 'ber',
}

/** Elements of an array of lanes. */
const LANES = 8

/** A number with a fraction, of 32 bits. */
export class Float {
  readonly value: number

  constructor(value: number) {
    this.value = value
  }
}

type Scalar = number | bigint | Float

/** A value of a field: a text, a number, or the elements of an array of lanes. */
export type FieldValue = string | Scalar | readonly Scalar[]

/** Values by the path of their field, such as `raw_errors.raw_ber.ber_coef`. Other fields are 0. */
export type Fields = Readonly<Record<string, FieldValue>>

/** Returns offset and size of a field of a structure, as a C compiler computed them from NVIDIA's headers. */
export function fieldAt(structure: string, path: string): { readonly at: number; readonly bytes: number } {
  let [at, bytes] = [0, 0]
  let name = structure
  for (const part of path.split('.')) {
    const place = LAYOUT[`doca_telemetry_${name}`]?.fields[part]
    if (place === undefined) throw new Error(`${structure} has no field ${path}`)
    at += place[0]
    bytes = place[1]
    name = `phy_${NESTED[part] ?? part}`
  }
  return { at, bytes }
}

/** Returns the size of a structure. Unit: bytes. */
export function sizeOf(structure: string): number {
  return LAYOUT[`doca_telemetry_${structure}`]?.size ?? 0
}

/** Returns the bytes of a structure. */
export function structureBytes(structure: string, fields: Fields): Uint8Array {
  const memory = Buffer.alloc(sizeOf(structure))
  for (const [path, value] of Object.entries(fields)) {
    const { at, bytes } = fieldAt(structure, path)
    if (typeof value === 'string') memory.write(value, at, bytes, 'latin1')
    else if (Array.isArray(value)) {
      for (const [lane, one] of value.entries())
        write(memory, at + (lane * bytes) / LANES, bytes / LANES, one as Scalar)
    } else write(memory, at, bytes, value as Scalar)
  }
  return memory
}

function write(memory: Buffer, at: number, bytes: number, value: Scalar): void {
  if (value instanceof Float) memory.writeFloatLE(value.value, at)
  else if (bytes === 8) memory.writeBigUInt64LE(BigInt(value), at)
  else memory.writeUIntLE(Number(BigInt.asUintN(8 * bytes, BigInt(value))), at, bytes)
}
