import { createHash } from 'node:crypto'
import type { EntityClaim } from './entity.ts'
import type { Field, NestedField } from './field.ts'
import type { Fields, RecordType } from './record-type.ts'

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
  /** The entity of the records; absent if none is declared. No part of the fingerprint. */
  readonly entity?: EntityClaim
}

/** The plain JSON of a type. */
export function definitionOf(type: RecordType): TypeDefinition {
  return { ...meaningOf(type), ...(type.entity === undefined ? {} : { entity: type.entity }) }
}

/** The parts of a type that its fingerprint is made of. */
type Meaning = Pick<RecordType, 'name' | 'description' | 'fields' | 'inTurns'> & {
  readonly layout: Pick<RecordType['layout'], 'kind'>
}

function meaningOf({ name, description, fields, layout: { kind }, inTurns }: Meaning): TypeDefinition {
  return { name, description, layout: kind, fields: definitionsOf(fields), ...(inTurns ? { inTurns } : {}) }
}

function definitionsOf(fields: Fields): FieldDefinition[] {
  return Object.entries(fields).map(([name, field]) =>
    field.kind === 'record' ? { ...field, name, fields: definitionsOf(field.fields) } : { ...field, name },
  )
}

/** 128 bits of SHA-256 in hex, over the canonical JSON (sorted keys, no spaces) of the meaning of a type. */
export function fingerprintOf(type: Meaning): string {
  return createHash('sha256')
    .update(canonicalJson(meaningOf(type)))
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
