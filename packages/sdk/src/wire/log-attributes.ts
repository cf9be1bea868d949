import { logType } from '../schema/builtin.ts'
import type { RecordType } from '../schema/record-type.ts'

/** The attributes of a log record by name. */
export type LogAttributes = Readonly<Record<string, string | number | boolean>>

/**
 * Reads the text of the field `attributes` of a log record. A text that is no such object, which only a foreign client
 * writes, is one attribute, `attributes`. Pure.
 */
export function attributesOfLog(text: string): LogAttributes {
  if (text === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    if (value !== null && typeof value === 'object' && Object.values(value).every(isScalar))
      return value as LogAttributes
  } catch {
    // Falls through.
  }
  return { attributes: text }
}

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

/** A record for JSON: the attributes of a log record as an object, and other records as they are. */
export function readableRecord<R extends object>(type: RecordType, record: R): R {
  if (type.fingerprint !== logType.fingerprint) return record
  const { attributes } = record as { readonly attributes?: unknown }
  return { ...record, attributes: attributesOfLog(typeof attributes === 'string' ? attributes : '') }
}
