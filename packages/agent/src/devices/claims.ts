import type { Labels, RecordType } from '@sonde/sdk'
import { type EntityRef, entityOf, type JoinBy, labelOf, type Slot } from '@sonde/sdk/internal'
import type { EntityFact } from './facts.ts'

// Reads entities from facts by the declarations of their types. This file knows no kind of device.

/** The values of a record's identifying fields, by field name. Absent fields are missing. */
export type FactValues = Readonly<Record<string, string | number>>

/** Whether records of a type define an entity or name another. */
export function isAboutEntities({ entity }: RecordType): boolean {
  return entity !== undefined && (entity.defines === true || namesOthers(entity))
}

function namesOthers({ joins = [], relations = [] }: NonNullable<RecordType['entity']>): boolean {
  return joins.length + relations.length > 0
}

/** The fields in which a type names other entities. */
export function namingFields({ entity }: RecordType): string[] {
  const { joins = [], relations = [] } = entity ?? {}
  return [...joins.map(({ field }) => field), ...relations.flatMap(({ key }) => key)]
}

/** Counts the names in the fields that name other entities. */
export function nameCount(type: RecordType, values: FactValues): number {
  return namingFields(type).reduce((sum, field) => sum + wordsIn(values[field]).length, 0)
}

/** Whether a field holds text. */
export function isTextSlot({ kind }: Slot['field']): boolean {
  return kind === 'symbol' || kind === 'char'
}

/** The entity that a fact is about; undefined if its labels do not name one. */
export function entityOfFact({ type, labels }: Pick<EntityFact, 'type' | 'labels'>): EntityRef | undefined {
  return entityOf(type, labels)
}

/** The host of the entity that a fact describes: from the type's host label, or from its source, or `here`. */
export function hostOfFact(
  { type, labels, source }: Pick<EntityFact, 'type' | 'labels' | 'source'>,
  here: string,
): string {
  return namedHost(type, labels) || source.host || here
}

/** The host that a series names; empty if its type has no label for it. */
export function namedHost({ entity }: Pick<RecordType, 'entity'>, labels: Labels): string {
  return entity?.host === undefined ? '' : labelOf(labels, entity.host)
}

/** The first label of the entity's key. Other records refer to the entity by this name. */
export function entityName(fact: EntityFact): string {
  return entityOfFact(fact)?.key[0] ?? ''
}

/** The names in a fact's joins of a given sort, such as the interfaces of a port. */
export function joinedNames(fact: EntityFact | undefined, by: JoinBy): string[] {
  const joins = fact?.type.entity?.joins?.filter((join) => join.by === by) ?? []
  return joins.flatMap(({ field, isList }) => named(fact, field, isList))
}

/** The keys of the entities of a kind that a fact names. */
export function relatedKeys(fact: EntityFact | undefined, kind: string): string[][] {
  return (fact?.type.entity?.relations ?? [])
    .filter((relation) => relation.kind === kind)
    .flatMap(({ key: [first = '', ...more], isList }) => {
      const rest = more.map((field) => textIn(fact, field))
      return named(fact, first, isList).map((name) => [name, ...rest])
    })
}

function named(fact: EntityFact | undefined, field: string, isList: true | undefined): string[] {
  const text = textIn(fact, field)
  return isList ? wordsIn(text) : text === '' ? [] : [text]
}

function textIn(fact: EntityFact | undefined, field: string): string {
  return String(fact?.values[field] ?? fact?.labels[field] ?? '')
}

function wordsIn(value: string | number | undefined): string[] {
  return String(value ?? '')
    .split(' ')
    .filter((word) => word !== '')
}

/** Reads a text field of a fact; returns an empty text if it has none. */
export function factText(fact: EntityFact | undefined, field: string): string {
  const value = fact?.values[field]
  return typeof value === 'string' ? value : ''
}

/** Reads a number field of a fact; returns undefined if it is absent. */
export function factNumber(fact: EntityFact | undefined, field: string): number | undefined {
  const value = fact?.values[field]
  return typeof value === 'number' ? value : undefined
}
