import type { EntityClaim } from '../schema/entity.ts'
import type { LayoutNode, Slot } from '../schema/layout.ts'
import { defineOwnType, type Fields, type RecordType } from '../schema/record-type.ts'

/** A type with a part of the fields of another type, in the same order, with the same name and entity. */
export function narrowType(type: RecordType, kept: (slot: Slot) => boolean): RecordType {
  const { name, description, fields, layout, inTurns, entity } = type
  const claim = entity === undefined ? {} : { entity: narrowClaim(entity, layout.slots.filter(kept)) }
  const narrow = narrowFields(fields, [layout.tree], kept)
  return defineOwnType(name, description, narrow, { layout: layout.kind, inTurns, ...claim })
}

/** The fields with at least one kept slot. `elements` are the trees of a record, one for each element of an array. */
function narrowFields(
  fields: Fields,
  elements: readonly (readonly LayoutNode[])[],
  kept: (slot: Slot) => boolean,
): Fields {
  const narrow = Object.entries(fields).flatMap(([key, field]): [string, Fields[string]][] => {
    const nodes = elements.flatMap((nodes) => nodes.filter((node) => node.key === key))
    if (field.kind !== 'record') return nodes.some((node) => 'slot' in node && kept(node.slot)) ? [[key, field]] : []
    const inner = narrowFields(
      field.fields,
      nodes.flatMap((node) => ('slot' in node ? [] : node.elements)),
      kept,
    )
    return Object.keys(inner).length === 0 ? [] : [[key, { ...field, fields: inner }]]
  })
  return Object.fromEntries(narrow)
}

/** The entity without the removed fields; its key consists of labels, which are never removed. */
function narrowClaim({ joins, relations, facts, ...claim }: EntityClaim, slots: readonly Slot[]): EntityClaim {
  const names = new Set(slots.map(({ name }) => name))
  const part = {
    joins: joins?.filter(({ field }) => names.has(field)) ?? [],
    relations: relations?.filter(({ key }) => key.every((field) => names.has(field))) ?? [],
    facts: facts?.filter((field) => names.has(field)) ?? [],
  }
  return { ...claim, ...Object.fromEntries(Object.entries(part).filter(([, list]) => list.length > 0)) }
}
