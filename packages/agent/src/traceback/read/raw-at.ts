import type { Slot } from '@sonde/sdk/internal'

const WORD = 2 ** 32

/** A number of a record as a double: exact up to 2^53. */
export function rawAt({ field, offset }: Slot, data: DataView, record: number): number {
  const at = record + offset
  switch (field.kind) {
    case 'u64':
      return data.getUint32(at + 4, true) * WORD + data.getUint32(at, true)
    case 'i64':
      return data.getInt32(at + 4, true) * WORD + data.getUint32(at, true)
    case 'f64':
      return data.getFloat64(at, true)
    case 'f32':
      return data.getFloat32(at, true)
    case 'u32':
    case 'symbol':
      return data.getUint32(at, true)
    case 'i32':
      return data.getInt32(at, true)
    case 'u16':
      return data.getUint16(at, true)
    case 'i16':
      return data.getInt16(at, true)
    case 'u8':
    case 'bool':
      return data.getUint8(at)
    case 'i8':
      return data.getInt8(at)
    case 'char':
      return Number.NaN
  }
}
