import { SondeError } from '../errors.ts'
import { JsonReader } from '../internal/json-reader.ts'
import type { Layout, Slot } from './layout.ts'
import { type Labels, labelOf } from './series.ts'

/**
 * How a field names another entity: `pci` by its PCI address as sysfs spells it, `netdev` by a network interface,
 * `uuid` by the UUID of a GPU, `pid` by a process id.
 */
export type JoinBy = 'pci' | 'netdev' | 'uuid' | 'pid'

/** A field that names another entity by a node-wide identifier. */
export interface EntityJoin {
  readonly by: JoinBy
  /** Name of a label, a text or an integer. */
  readonly field: string
  /** Whether the text may name several entities, separated by blanks. */
  readonly isList?: true
}

/** Fields that hold the key of another entity. */
export interface EntityRelation {
  /** Kind of the other entity. */
  readonly kind: string
  /** Names of the fields that hold its key, in the order of the key; 1 to 8. A part of a key names the first match. */
  readonly key: readonly string[]
  /** Whether the text may name several entities, separated by blanks; only if `key` has one field. */
  readonly isList?: true
}

/**
 * The entity that the records of a type describe. It is announced beside the definition and is no part of the
 * fingerprint: readers that ignore it can still read the records.
 */
export interface EntityClaim {
  /** Kind of the entity, for example `gpu`: at most 64 lower-case letters, digits and `_`; the first is a letter. */
  readonly kind: string
  /** Names of the labels that identify it among its kind; at most 8, none if there is only one, such as the host. */
  readonly key: readonly string[]
  /** Name of the label with its host. Default: the host of its source. */
  readonly host?: string
  /** Whether a series of this type proves that the entity exists. Default: other types prove it. */
  readonly defines?: true
  /** Numeric properties of the entity itself, for example its limits. Default: none. */
  readonly facts?: readonly string[]
  /** Default: none; at most 16. */
  readonly joins?: readonly EntityJoin[]
  /** Default: none; at most 16. */
  readonly relations?: readonly EntityRelation[]
}

/** A reference to one entity of a host. */
export interface EntityRef {
  readonly kind: string
  /** Texts of the key labels, in order. */
  readonly key: readonly string[]
}

/** The entity that a series describes; undefined if its type declares none, or the series does not name it. */
export function entityOf(
  { entity }: { readonly entity: EntityClaim | undefined },
  labels: Labels,
): EntityRef | undefined {
  if (entity === undefined) return undefined
  const key = entity.key.map((name) => labelOf(labels, name))
  return key[0] === '' ? undefined : { kind: entity.kind, key }
}

/**
 * The label that names the device of a series: the first label of the key of the entity, or `device` if the type
 * declares no entity. Undefined if the entity is unique, such as the host.
 */
export function deviceLabelOf({ entity }: { readonly entity: EntityClaim | undefined }): string | undefined {
  return entity === undefined ? 'device' : entity.key[0]
}

const read = new JsonReader((message) => new SondeError('SCH_ENTITY', message))
const KIND = /^[a-z][a-z0-9_]{0,63}$/
const KEY_COUNT_MAX = 8
const LIST_COUNT_MAX = 16
const FACT_COUNT_MAX = 64
const JOINS: readonly unknown[] = ['pci', 'netdev', 'uuid', 'pid']
const INTEGERS: readonly string[] = ['u8', 'u16', 'u32', 'u64', 'i8', 'i16', 'i32', 'i64']

/**
 * Checks the claim of a file, a peer or an application against the fields of its type. Unknown members are left out: a
 * later version may have written them.
 *
 * @throws SondeError `SCH_ENTITY` with the allowed values.
 */
export function claimOf(type: { readonly name: string; readonly layout: Layout }, given: unknown): EntityClaim {
  const place = `the entity of type ${type.name}`
  const claim = read.object(place, given)
  const slots = new Map(type.layout.slots.map((slot) => [slot.name, slot]))
  const fieldIn = (at: string, name: unknown, allowed: string, fits: (slot: Slot) => boolean): string => {
    const slot = slots.get(name as string)
    if (slot === undefined || !fits(slot)) throw read.wrong(at, name, allowed)
    return slot.name
  }
  const defines = flagIn(`${place}: defines`, claim.defines)
  const key = listIn(`${place}: key`, claim.key, KEY_COUNT_MAX).map((name) =>
    fieldIn(`${place}: key`, name, 'labels of the type', ({ field }) => field.role === 'label'),
  )
  if (new Set(key).size < key.length) throw read.wrong(`${place}: key`, key, 'each label once')
  if (defines && key.length === 0) throw read.wrong(`${place}: key`, key, 'a label at least, where the type defines it')
  const host =
    claim.host === undefined
      ? undefined
      : fieldIn(`${place}: host`, claim.host, 'a label of the type', ({ field }) => field.role === 'label')
  const facts = listIn(`${place}: facts`, claim.facts, FACT_COUNT_MAX).map((name) =>
    fieldIn(`${place}: facts`, name, 'numbers of the type', ({ field }) => field.count === 1 && !isText(field)),
  )
  const joins = listIn(`${place}: joins`, claim.joins, LIST_COUNT_MAX).map((one): EntityJoin => {
    const { by, field, isList } = read.object(`${place}: a join`, one)
    if (!JOINS.includes(by)) throw read.wrong(`${place}: a join by`, by, JOINS.join(', '))
    const name = fieldIn(`${place}: the field of a join`, field, NAMING, isNaming)
    return { by: by as JoinBy, field: name, ...listFlag(place, isList, slots.get(name)) }
  })
  const relations = listIn(`${place}: relations`, claim.relations, LIST_COUNT_MAX).map((one): EntityRelation => {
    const { kind, key, isList } = read.object(`${place}: a relation`, one)
    const names = listIn(`${place}: the key of a relation`, key, KEY_COUNT_MAX).map((name) =>
      fieldIn(`${place}: the key of a relation`, name, NAMING, isNaming),
    )
    if (names.length === 0) throw read.wrong(`${place}: the key of a relation`, key, '1 to 8 fields')
    const listed = names.length === 1 ? slots.get(names[0] as string) : undefined
    return { kind: kindIn(`${place}: the kind of a relation`, kind), key: names, ...listFlag(place, isList, listed) }
  })
  return Object.freeze({
    kind: kindIn(`${place}: kind`, claim.kind),
    key,
    ...(host === undefined ? {} : { host }),
    ...(defines ? { defines } : {}),
    ...(facts.length > 0 ? { facts } : {}),
    ...(joins.length > 0 ? { joins } : {}),
    ...(relations.length > 0 ? { relations } : {}),
  })
}

const NAMING = 'a label, a text or an integer of the type'

function isNaming({ field }: Slot): boolean {
  if (field.role === 'timestamp') return false
  return isText(field) || (field.count === 1 && INTEGERS.includes(field.kind))
}

function isText({ kind }: Slot['field']): boolean {
  return kind === 'symbol' || kind === 'char'
}

function listFlag(place: string, given: unknown, slot: Slot | undefined): { isList?: true } {
  const isList = flagIn(`${place}: isList`, given)
  if (isList && (slot === undefined || !isText(slot.field)))
    throw read.wrong(`${place}: isList`, given, 'nothing, but for one text')
  return isList ? { isList } : {}
}

function kindIn(place: string, kind: unknown): string {
  if (typeof kind === 'string' && KIND.test(kind)) return kind
  throw read.wrong(place, kind, 'lower case letters, digits and _, at most 64, beginning with a letter')
}

function flagIn(place: string, given: unknown): true | undefined {
  if (given === undefined || given === true) return given
  throw read.wrong(place, given, 'true, or nothing')
}

function listIn(place: string, given: unknown, countMax: number): readonly unknown[] {
  if (given === undefined) return []
  if (Array.isArray(given) && given.length <= countMax) return given
  throw read.wrong(place, given, `a list of at most ${countMax}`)
}
