import type { RecordType } from '@sonde/sdk'
import type { ParseAttribute } from '../attribute-reader.ts'
import { impossible } from './quantities.ts'
import { rangesOf } from './range-of.ts'

/**
 * Reads the file of a field. A value outside the field's range is a missing value. Sources that read files before they
 * make records use it, and explanations use it too, so that both read alike.
 */
export function withinRange<T>(type: RecordType, field: string, parse: ParseAttribute<T>): ParseAttribute<T> {
  const quantity = rangesOf(type).get(field)?.quantity
  if (quantity === undefined) return parse
  return (bytes) => {
    const found = parse(bytes)
    const isNumber = typeof found === 'number' || typeof found === 'bigint'
    return isNumber ? (impossible(quantity, found) ?? found) : found
  }
}
