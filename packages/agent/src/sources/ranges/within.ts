import type { RecordType } from '@sonde/sdk'
import type { ParseAttribute } from '../attribute-reader.ts'
import { impossible } from './quantities.ts'
import { rangesOf } from './range-of.ts'

/**
 * Reads a file of a field; a value that the field cannot have is a lack. What reads files before their records are made
 * uses it, so that whoever explains a value reads the same.
 */
export function within<T>(type: RecordType, field: string, parse: ParseAttribute<T>): ParseAttribute<T> {
  const quantity = rangesOf(type).get(field)?.quantity
  if (quantity === undefined) return parse
  return (bytes) => {
    const found = parse(bytes)
    const isNumber = typeof found === 'number' || typeof found === 'bigint'
    return isNumber ? (impossible(quantity, found) ?? found) : found
  }
}
