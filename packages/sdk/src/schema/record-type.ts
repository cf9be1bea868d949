import { type OptionNames, unknownOption } from '../config/unknown-option.ts'
import { SondeError, shown } from '../errors.ts'
import { checkDeclared } from './check-declared.ts'
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

/** The record that a type's fields describe: what `report` takes. */
export type RecordOf<T> =
  T extends RecordType<infer F>
    ? { [N in Exclude<keyof F, OptionalNames<F>>]: ValueOf<F[N]> } & {
        [N in OptionalNames<F>]?: ValueOf<F[N]> | undefined
      }
    : never

/** A named, laid-out record type. Frozen; two with the same fingerprint have the same bytes and the same meaning. */
export interface RecordType<F extends Fields = Fields> {
  readonly name: string
  readonly description: string
  readonly fields: F
  readonly layout: Layout
  /** 128 bits of SHA-256 over the canonical JSON of the definition, in hex. */
  readonly fingerprint: string
  /** Metric name per name of a slot; those that are no metric are not in it. */
  readonly metrics: ReadonlyMap<string, string>
  /** The slots of the label fields, in order: together with the source they identify a series. */
  readonly labels: readonly Slot[]
  /** The slot of the timestamp, where the type has one. */
  readonly time: Slot | undefined
  /**
   * Whether its series are read in turns, so that the period of the source says nothing of how far apart records of one
   * series are.
   */
  readonly inTurns: boolean
  /** What its records are about; undefined if the type does not tell. */
  readonly entity: EntityClaim | undefined
}

/** Whether somebody gave a type: what {@link defineType} made, of whatever copy of this package. */
export function isType(given: unknown): given is RecordType {
  const { layout, fingerprint } = (given ?? {}) as Partial<RecordType>
  return typeof layout?.recordBytes === 'number' && typeof fingerprint === 'string'
}

/** Options of {@link defineType}. */
export interface TypeOptions {
  /**
   * `aligned` (default): C alignment, record size a multiple of 8. `packed`: no padding, as foreign layouts have it.
   */
  layout?: 'aligned' | 'packed'
  /**
   * Whether a sample of the source may leave out series, to read them with one of the next: how far apart the records
   * of a series are is seen from their times then. A turn of a minute at most is followed by what computes rates.
   * Default: false.
   */
  inTurns?: boolean
  /** What the records are about. Devices, pods and what else there is are made of it. Default: that is not told. */
  entity?: EntityClaim
}

const NAME = /^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/
/** What Sonde says of itself begins so; nobody else may say it. */
const OWN_PREFIX = 'sonde_'
const METRIC = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const ROLES: ReadonlySet<string> = new Set<Role>(['timestamp', 'label', 'counter', 'gauge', 'bucket', 'value'])
const OPTIONS: OptionNames<TypeOptions> = { layout: true, inTurns: true, entity: true }
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
 * @throws SondeError `SCH_NAME`, `SCH_METRIC_NAME`, `SCH_LABEL_NAME`, `SCH_FIELD`, `SCH_ENTITY` or `SCH_LIMIT` where a
 * name, a field, an entity or a size is not allowed. Names of types and metrics that begin with `sonde_` are Sonde's
 * own: they say how Sonde itself fares.
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

/** A type as it was declared elsewhere: what {@link definitionOf} was made of. Types of Sonde's own are taken too. */
export function typeOfDefinition(definition: TypeDefinition): RecordType {
  const { name, description, fields, layout, inTurns = false, entity } = definition
  return defineOwnType(name, description, fieldsOf(fields), { layout, inTurns, ...(entity ? { entity } : {}) })
}

/**
 * The type with another claim of what its records are about, or with none; checked as far as it comes from outside.
 *
 * @throws SondeError `SCH_ENTITY` if the fields of the type do not fit the claim.
 */
export function withEntity(type: RecordType, claim: unknown): RecordType {
  return Object.freeze({ ...type, entity: claim === undefined ? undefined : claimOf(type, claim) })
}

/** Definitions nest as deeply as the caller lets them. */
function fieldsOf(definitions: readonly FieldDefinition[]): Fields {
  return Object.fromEntries(
    definitions.map(({ name, ...field }) => [
      name,
      field.kind === 'record' ? { ...field, fields: fieldsOf(field.fields) } : field,
    ]),
  )
}

/** {@link defineType} for Sonde's own rooms, which take names that begin with `sonde_`. */
export function defineOwnType<F extends Fields>(
  name: string,
  description: string,
  fields: F,
  options: TypeOptions = {},
): RecordType<F> {
  checkName(name, 'a type')
  checkArguments(name, description, fields, options)
  const { layout: kind = 'aligned', inTurns = false, entity: claim } = options
  checkFields(name, fields, '')
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
  const times = layout.slots.filter((slot) => slot.field.role === 'timestamp')
  if (times.length > 1) throw new SondeError('SCH_FIELD', `type ${name} has ${times.length} timestamps; allowed: one`)
  const fingerprint = fingerprintOf({ name, description, fields, layout, inTurns })
  const entity = claim === undefined ? undefined : claimOf({ name, layout }, claim)
  const made = { name, description, fields, layout, fingerprint, metrics, labels, time: times[0], inTurns, entity }
  return Object.freeze(made)
}

/** Whether it may name a type or a field, and so a label. */
export function isName(name: unknown): name is string {
  // As a key of a record, `__proto__` would set its prototype.
  return typeof name === 'string' && NAME.test(name) && name !== '__proto__'
}

/** Not everybody compiles. */
function checkArguments(name: string, description: unknown, fields: unknown, options: unknown): void {
  const wrong = (what: string, given: unknown, allowed: string) =>
    new SondeError('SCH_FIELD', `${what} of type ${name} is ${shown(given)}; allowed: ${allowed}`)
  const isObject = (given: unknown) => given !== null && typeof given === 'object'
  if (typeof description !== 'string') throw wrong('the description', description, 'text')
  if (!isObject(fields)) throw wrong('the third argument', fields, 'fields by name')
  if (!isObject(options)) throw wrong('the fourth argument', options, 'an object of options')
  const unknown = unknownOption(options as object, OPTIONS)
  if (unknown !== undefined) throw new SondeError('SCH_FIELD', `the options of type ${name}: ${unknown}`)
  const { layout, inTurns = false, entity } = options as TypeOptions
  const unknownOfEntity = isObject(entity) ? unknownOption(entity as object, CLAIM) : undefined
  if (unknownOfEntity !== undefined)
    throw new SondeError('SCH_ENTITY', `the entity of type ${name}: ${unknownOfEntity}`)
  if (typeof inTurns !== 'boolean') throw wrong('inTurns', inTurns, 'true, false')
  if (layout !== undefined && layout !== 'aligned' && layout !== 'packed')
    throw wrong('layout', layout, 'aligned, packed')
}

function checkName(name: string, what: string): void {
  if (!isName(name)) {
    throw new SondeError('SCH_NAME', `${shown(name)} cannot name ${what}: use letters, digits and _ . : -, at most 128`)
  }
}

/** The fields as they were declared; those of nested records are looked at again in their place. */
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
      // `nested` takes it from a type; a definition of a file or a peer gives it as it likes.
      checkName(field.type, `the record in field ${prefix}${name} of type ${type}`)
      checkCount(`field ${prefix}${name} of type ${type}`, field.count)
      // What nests more deeply than any type may is refused where it is laid out.
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
  // Definitions also come from files and peers, and the encoder's code is made of kinds.
  if (!Object.hasOwn(KIND_BYTES, field.kind) || !ROLES.has(field.role)) {
    const allowed = `kinds ${Object.keys(KIND_BYTES).join(', ')}; roles ${[...ROLES].join(', ')}`
    throw new SondeError('SCH_FIELD', `${place} has kind ${field.kind} and role ${field.role}; allowed: ${allowed}`)
  }
  checkCount(place, field.count)
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
