import { type OptionNames, unknownOption } from '../config/unknown-option.ts'
import { SondeError, shown } from '../errors.ts'
import { checkDeclared } from './check-declared.ts'
import { classed } from './classed.ts'
import { constantLabelNames, faultOfConstantLabels } from './constant-labels.ts'
import { faultOfElement } from './element.ts'
import { claimOf, type EntityClaim } from './entity.ts'
import type { Field, NestedField, Role } from './field.ts'
import { type FieldDefinition, fingerprintOf, type TypeDefinition } from './fingerprint.ts'
import { KIND_BYTES } from './kinds.ts'
import { checkLabels } from './label-rules.ts'
import { type Layout, layoutOf, type Slot } from './layout.ts'

/** Fields by name, in the order of the packed record. */
export type Fields = Readonly<Record<string, Field | NestedField>>

type ValueOf<F> = F extends Field<infer V, boolean> ? V : F extends NestedField<infer V, boolean> ? V : never
type OptionalNames<F extends Fields> = {
  [N in keyof F]: F[N] extends Field<unknown, true> | NestedField<unknown, true> ? N : never
}[keyof F]

/** The record of a type: the argument of `report`. */
export type RecordOf<T> =
  T extends RecordType<infer F>
    ? { [N in Exclude<keyof F, OptionalNames<F>>]: ValueOf<F[N]> } & {
        [N in OptionalNames<F>]?: ValueOf<F[N]> | undefined
      }
    : never

/** A record type with its layout. Frozen. Types with equal fingerprints have equal layouts and meanings. */
export interface RecordType<F extends Fields = Fields> {
  readonly name: string
  readonly description: string
  readonly fields: F
  readonly layout: Layout
  /** 128 bits of SHA-256 over the canonical JSON of the definition, in hex. */
  readonly fingerprint: string
  /** Metric names by the names of slots; slots without a metric are not in the map. */
  readonly metrics: ReadonlyMap<string, string>
  /** The slots of the label fields, in order. The labels and the source identify a series. */
  readonly labels: readonly Slot[]
  /** The slot of the timestamp, if the type has one. */
  readonly time: Slot | undefined
  /**
   * Whether the source reads its series in turns. The period of the source is then not the period of a series.
   */
  readonly inTurns: boolean
  /** The entity that its records describe; undefined if the type declares none. */
  readonly entity: EntityClaim | undefined
}

/** Whether a value is a type: a result of {@link defineType}, of any copy of this package. */
export function isType(given: unknown): given is RecordType {
  const { layout, fingerprint } = (given ?? {}) as Partial<RecordType>
  return typeof layout?.recordBytes === 'number' && typeof fingerprint === 'string'
}

/** Options of {@link defineType}. */
export interface TypeOptions {
  /**
   * `aligned` (default): C alignment, record size a multiple of 8. `packed`: no padding, for foreign layouts.
   */
  layout?: 'aligned' | 'packed'
  /**
   * Whether the source reads its series in turns, some at each sample. Readers then take the period of a series from
   * the times of its records. Rates are computed for turns of up to a minute. Default: false.
   */
  inTurns?: boolean
  /** The entity that the records describe. Devices and pods derive from it. Default: none. */
  entity?: EntityClaim
  /**
   * The fields of class `core`: all other fields get the class `full`. Time and labels have no class. Default: each
   * field has the class that it declares.
   */
  core?: readonly string[]
}

const NAME = /^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/
/** The prefix of Sonde's own types and metrics; applications may not use it. */
const OWN_PREFIX = 'sonde_'
const METRIC = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const ROLES: ReadonlySet<string> = new Set<Role>(['timestamp', 'label', 'counter', 'gauge', 'bucket', 'value'])
const OPTIONS: OptionNames<TypeOptions> = { layout: true, inTurns: true, entity: true, core: true }
const CLAIM: OptionNames<EntityClaim> = {
  kind: true,
  key: true,
  host: true,
  defines: true,
  facts: true,
  joins: true,
  relations: true,
}
const RECORD_BYTES_LIMIT = 1 << 20

/**
 * Declares a record type.
 *
 * @throws SondeError `SCH_NAME`, `SCH_METRIC_NAME`, `SCH_LABEL_NAME`, `SCH_FIELD`, `SCH_ENTITY` or `SCH_LIMIT` if a
 * name, a field, an entity or a size is not allowed. Names of types and metrics with the prefix `sonde_` are reserved.
 * @example
 * const port = defineType('port', 'Counters of a port', {
 *   time: timestamp(), device: label(), rx_bytes_total: counter('u64', { unit: 'bytes', help: 'Bytes received' }),
 * })
 */
export function defineType<F extends Fields>(
  name: string,
  description: string,
  fields: F,
  options: TypeOptions = {},
): RecordType<F> {
  const type = defineOwnType(name, description, fields, options)
  checkDeclared(type)
  checkLabels(type)
  if (name.startsWith(OWN_PREFIX)) {
    throw new SondeError('SCH_NAME', `type ${name}: names that begin with ${OWN_PREFIX} are Sonde's own; take another`)
  }
  for (const [field, metric] of type.metrics) {
    if (!metric.startsWith(OWN_PREFIX)) continue
    throw new SondeError(
      'SCH_METRIC_NAME',
      `metric ${metric} of ${name}.${field}: names that begin with ${OWN_PREFIX} are Sonde's own; take another`,
    )
  }
  return type
}

/** Restores a type from its definition; see {@link definitionOf}. Reserved names are allowed. */
export function typeOfDefinition(definition: TypeDefinition): RecordType {
  const { name, description, fields, layout, inTurns = false, entity } = definition
  return defineOwnType(name, description, fieldsOf(fields), { layout, inTurns, ...(entity ? { entity } : {}) })
}

/**
 * Returns the type with another entity, or with none. A claim from outside is checked.
 *
 * @throws SondeError `SCH_ENTITY` if the claim does not fit the fields of the type.
 */
export function withEntity(type: RecordType, claim: unknown): RecordType {
  return Object.freeze({ ...type, entity: claim === undefined ? undefined : claimOf(type, claim) })
}

/** Definitions may nest as deeply as the caller allows. */
function fieldsOf(definitions: readonly FieldDefinition[]): Fields {
  return Object.fromEntries(
    definitions.map(({ name, ...field }) => [
      name,
      field.kind === 'record' ? { ...field, fields: fieldsOf(field.fields) } : field,
    ]),
  )
}

/** {@link defineType} for Sonde itself, which may use reserved names. */
export function defineOwnType<F extends Fields>(
  name: string,
  description: string,
  given: F,
  options: TypeOptions = {},
): RecordType<F> {
  checkName(name, 'a type')
  checkArguments(name, description, given, options)
  const { layout: kind = 'aligned', inTurns = false, entity: claim, core } = options
  checkFields(name, given, '')
  const fields = core === undefined ? given : classed(name, given, core)
  const layout = layoutOf(name, fields, kind)
  const metrics = new Map<string, string>()
  const places = new Set<string>()
  for (const { name: place, field } of layout.slots) {
    if (places.has(place)) throw new SondeError('SCH_FIELD', `type ${name} has two fields called ${place}; rename one`)
    places.add(place)
    if (!Object.hasOwn(fields, place)) checkField(name, place, field)
    const metric = metricOf(name, place, field)
    if (metric !== undefined) metrics.set(place, metric)
  }
  if (layout.recordBytes > RECORD_BYTES_LIMIT) {
    throw new SondeError(
      'SCH_LIMIT',
      `a record of type ${name} takes ${layout.recordBytes} bytes; at most ${RECORD_BYTES_LIMIT}`,
    )
  }
  const labels = layout.slots.filter((slot) => slot.field.role === 'label')
  const constant = constantLabelNames({ layout, metrics })
  for (const label of labels) {
    if (!constant.has(label.name)) continue
    throw new SondeError(
      'SCH_FIELD',
      `type ${name} has ${label.name} both as a label field and as a constant label; rename one`,
    )
  }
  const times = layout.slots.filter((slot) => slot.field.role === 'timestamp')
  if (times.length > 1) throw new SondeError('SCH_FIELD', `type ${name} has ${times.length} timestamps; allowed: one`)
  const fingerprint = fingerprintOf({ name, description, fields, layout, inTurns })
  const entity = claim === undefined ? undefined : claimOf({ name, layout }, claim)
  const made = { name, description, fields, layout, fingerprint, metrics, labels, time: times[0], inTurns, entity }
  return Object.freeze(made)
}

/** Whether a text is allowed as the name of a type, a field or a label. */
export function isName(name: unknown): name is string {
  // As a key of a record, `__proto__` would set its prototype.
  return typeof name === 'string' && NAME.test(name) && name !== '__proto__'
}

/** Checks the arguments of programs in JavaScript. */
function checkArguments(name: string, description: unknown, fields: unknown, options: unknown): void {
  const wrong = (what: string, given: unknown, allowed: string) =>
    new SondeError('SCH_FIELD', `${what} of type ${name} is ${shown(given)}; allowed: ${allowed}`)
  const isObject = (given: unknown) => given !== null && typeof given === 'object'
  if (typeof description !== 'string') throw wrong('the description', description, 'text')
  if (!isObject(fields)) throw wrong('the third argument', fields, 'fields by name')
  if (!isObject(options)) throw wrong('the fourth argument', options, 'an object of options')
  const unknown = unknownOption(options as object, OPTIONS)
  if (unknown !== undefined) throw new SondeError('SCH_FIELD', `the options of type ${name}: ${unknown}`)
  const { layout, inTurns = false, entity, core } = options as TypeOptions
  const unknownOfEntity = isObject(entity) ? unknownOption(entity as object, CLAIM) : undefined
  if (unknownOfEntity !== undefined)
    throw new SondeError('SCH_ENTITY', `the entity of type ${name}: ${unknownOfEntity}`)
  if (typeof inTurns !== 'boolean') throw wrong('inTurns', inTurns, 'true, false')
  if (core !== undefined && !Array.isArray(core)) throw wrong('core', core, 'a list of fields')
  if (layout !== undefined && layout !== 'aligned' && layout !== 'packed')
    throw wrong('layout', layout, 'aligned, packed')
}

function checkName(name: string, what: string): void {
  if (!isName(name)) {
    throw new SondeError('SCH_NAME', `${shown(name)} cannot name ${what}: use letters, digits and _ . : -, at most 128`)
  }
}

/** The declared fields; the fields of nested records are checked where they are laid out. */
function checkFields(type: string, fields: Fields, prefix: string, depth = 1): void {
  for (const [name, field] of Object.entries(fields)) {
    checkName(name, `a field of type ${type}`)
    if (field === null || typeof field !== 'object') {
      throw new SondeError(
        'SCH_FIELD',
        `field ${prefix}${name} of type ${type} is ${shown(field)}; make fields with counter, gauge, label and the like`,
      )
    }
    if (field.kind !== 'record') checkField(type, `${prefix}${name}`, field)
    else {
      // `nested` takes the name from a type; a definition of a file or a peer may hold any name.
      checkName(field.type, `the record in field ${prefix}${name} of type ${type}`)
      checkCount(`field ${prefix}${name} of type ${type}`, field.count)
      // Deeper nesting than allowed is refused by the layout.
      if (depth < 9) checkFields(type, field.fields, `${prefix}${name}.`, depth + 1)
    }
  }
}

function checkCount(place: string, count: number): void {
  if (Number.isInteger(count) && count >= 1 && count <= 65535) return
  throw new SondeError('SCH_FIELD', `${place} has ${count} elements; allowed: 1 to 65535`)
}

function checkField(type: string, name: string, field: Field): void {
  const place = `field ${name} of type ${type}`
  // Definitions also come from files and peers, and the encoder is generated from the kinds.
  if (!Object.hasOwn(KIND_BYTES, field.kind) || !ROLES.has(field.role)) {
    const allowed = `kinds ${Object.keys(KIND_BYTES).join(', ')}; roles ${[...ROLES].join(', ')}`
    throw new SondeError('SCH_FIELD', `${place} has kind ${field.kind} and role ${field.role}; allowed: ${allowed}`)
  }
  checkCount(place, field.count)
  const elementFault = faultOfElement(field)
  if (elementFault !== undefined)
    throw new SondeError(
      'SCH_ELEMENT',
      `${place} has ${elementFault.given} as its element; allowed: ${elementFault.allowed}`,
    )
  const fault = faultOfConstantLabels(field)
  if (fault !== undefined)
    throw new SondeError('SCH_FIELD', `${place}: ${fault.place} is ${shown(fault.given)}; allowed: ${fault.allowed}`)
  if (field.kind === 'symbol' && field.count !== 1)
    throw new SondeError('SCH_FIELD', `${place}: a symbol cannot be an array`)
  if (field.role === 'label' && field.optional)
    throw new SondeError('SCH_FIELD', `${place}: a label cannot be optional`)
  if (field.role === 'label' && field.kind !== 'char' && field.count !== 1) {
    throw new SondeError('SCH_FIELD', `${place}: a label cannot be an array`)
  }
  if (field.role === 'timestamp' && (field.kind !== 'u64' || field.count !== 1 || field.optional)) {
    throw new SondeError('SCH_FIELD', `${place}: a timestamp is one u64 that is always there`)
  }
  if (field.role === 'bucket' && field.edges?.length !== field.count - 1) {
    throw new SondeError(
      'SCH_FIELD',
      `${place} has ${field.count} bins and ${field.edges?.length ?? 0} edges; allowed: one edge fewer`,
    )
  }
}

function metricOf(type: string, name: string, field: Field): string | undefined {
  if (field.role !== 'counter' && field.role !== 'gauge' && field.role !== 'bucket') return undefined
  const metric = field.metric ?? `${type}_${name}`.replace(/[^a-zA-Z0-9_:]/g, '_')
  if (!METRIC.test(metric)) {
    throw new SondeError(
      'SCH_METRIC_NAME',
      `metric ${JSON.stringify(metric)} of ${type}.${name}: use letters, digits, _ and :`,
    )
  }
  return metric
}
