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

/** Whether records of a type are log records; a field set may have left out fields of them. */
export function isLogType({ name }: RecordType): boolean {
  return name === logType.name
}

/** Whether a field has the attributes of a log record as text: formats with maps have a map in its place. */
export function hasAttributes(type: RecordType, fieldName: string): boolean {
  return isLogType(type) && fieldName === 'attributes'
}

/** A record for JSON: the attributes of a log record as an object, and other records as they are. */
export function readableRecord<R extends object>(type: RecordType, record: R): R {
  const { attributes } = record as { readonly attributes?: unknown }
  if (typeof attributes !== 'string' || !hasAttributes(type, 'attributes')) return record
  return { ...record, attributes: attributesOfLog(attributes) }
}
