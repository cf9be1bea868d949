import { createHash } from 'node:crypto'
import type { Field, NestedField } from './field.ts'
import type { Fields } from './record-type.ts'

/** A field as it is written down: in files, in the IPC handshake, in the store. */
export type FieldDefinition = LeafDefinition | NestedDefinition

type LeafDefinition = Omit<Field, 'value'> & { readonly name: string }

/** A nested record as it is written down. */
type NestedDefinition = Omit<NestedField, 'value' | 'fields'> & {
  readonly name: string
  readonly fields: readonly FieldDefinition[]
}

/** A type as plain JSON: enough to read its records without the program that wrote them. */
export interface TypeDefinition {
  readonly name: string
  readonly description: string
  readonly layout: 'aligned' | 'packed'
  readonly fields: readonly FieldDefinition[]
  /** Left out where it is not so. */
  readonly inTurns?: boolean
}

/** The plain JSON of a type's parts. */
export function definitionOf(
  name: string,
  description: string,
  fields: Fields,
  layout: 'aligned' | 'packed',
  inTurns: boolean,
): TypeDefinition {
  return {
    name,
    description,
    layout,
    fields: definitionsOf(fields),
    ...(inTurns ? { inTurns } : {}),
  }
}

function definitionsOf(fields: Fields): FieldDefinition[] {
  return Object.entries(fields).map(([name, field]) =>
    field.kind === 'record' ? { ...field, name, fields: definitionsOf(field.fields) } : { ...field, name },
  )
}

/** 128 bits of SHA-256 over the canonical JSON (sorted keys, no spaces) of a definition, in hex. */
export function fingerprintOf(...parts: Parameters<typeof definitionOf>): string {
  return createHash('sha256')
    .update(canonicalJson(definitionOf(...parts)))
    .digest('hex')
    .slice(0, 32)
}

/** JSON with sorted keys and no spaces, so that equal values give equal bytes. Nesting is the caller's to bound. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
