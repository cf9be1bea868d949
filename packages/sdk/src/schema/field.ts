import { unknownOption } from '../config/unknown-option.ts'
import { SondeError, shown } from '../errors.ts'
import { MADE } from './check-declared.ts'
import type { Kind } from './kinds.ts'
import { type Fields, isType, type RecordOf, type RecordType } from './record-type.ts'

/**
 * The role of a field. `timestamp`: time of the sample. `label`: identifies the series. `counter`: only rises. `gauge`:
 * moves both ways. `bucket`: one bin or all bins of a histogram. `value`: anything else, no metric.
 */
export type Role = 'timestamp' | 'label' | 'counter' | 'gauge' | 'bucket' | 'value'

/**
 * How widely a field is sent. `core`: alerts, dashboards and pages of a cluster need it. `full`: it is for the pages of
 * its node, and for destinations that ask for everything.
 */
export type FieldClass = 'core' | 'full'

/** Every {@link FieldClass}. */
export const FIELD_CLASSES: readonly FieldClass[] = ['core', 'full']

/** Properties of a field beside its kind and role. */
export interface FieldOptions {
  /** One sentence for people; becomes HELP. */
  help?: string
  /** Base unit as Prometheus spells it: `bytes`, `seconds`, `celsius`, `ratio`… Default: none. */
  unit?: string
  /** Full metric name where it is not `<type>_<field>`. Several fields may share it if their `labels` differ. */
  metric?: string
  /**
   * Constant labels of the metric, such as `{ mode: 'user' }`: they distinguish fields that share a metric. Only for a
   * counter, gauge or histogram. Range: 1 to 8 labels with values of 1 to 200 characters, and no label field of the
   * type has such a name. Default: none.
   */
  labels?: Readonly<Record<string, string>>
  /**
   * TYPE of a counter's metric in the exposition. `unknown`: only its origin knows whether it counts. Default: that of
   * the role.
   */
  metricType?: 'unknown'
  /**
   * Whether the field belongs to the core set: {@link FieldClass}. Time and labels have no class, because they go along
   * with every field. Default: `core`; the option `core` of a type changes it.
   */
  class?: FieldClass
  /** Upper edges of a histogram's bins, ascending, without the last, open one; only for role `bucket`. */
  edges?: readonly number[]
}

/**
 * One declared field. `V` is its type in a record; `O` says whether a record may omit it. Use the functions of this
 * file to make fields.
 */
export interface Field<V = unknown, O extends boolean = boolean> extends FieldOptions {
  readonly kind: Kind
  readonly role: Role
  /**
   * Elements; 1 is a scalar. For `char` it is the size of the text in bytes, the closing NUL included. Range: 1 to
   * 65 535.
   */
  readonly count: number
  readonly optional: O
  /** Unit of a timestamp: nanoseconds or microseconds since the Unix epoch. */
  readonly resolution?: 'ns' | 'us'
  /**
   * The information element that NetFlow and IPFIX send it as, by its number of IANA. Range: 1 to 32 767. Default:
   * they leave the field out.
   */
  readonly element?: number
  /** Carries the type `V`; never set. */
  readonly value?: V
}

/**
 * A field that is itself a record, or an array of records. Its own fields lie in the outer record: each is a slot
 * `outer.inner`, or `outer.0.inner` in an array. Made by {@link nested}.
 */
export interface NestedField<V = unknown, O extends boolean = boolean> {
  readonly kind: 'record'
  readonly role: 'value'
  /** Elements; 1 is a single record. Range: 1 to 65 535, as far as the slots of the type allow. */
  readonly count: number
  readonly optional: O
  readonly help?: string
  readonly unit?: undefined
  readonly metric?: undefined
  readonly labels?: undefined
  readonly metricType?: undefined
  readonly class?: undefined
  readonly edges?: undefined
  /** Name of the type that it was made of. */
  readonly type: string
  readonly fields: Fields
  /** Carries the type `V`; never set. */
  readonly value?: V
}

/** A u64 or i64 as a record gives it: a number where it is an exact integer, else a bigint. */
export type Integer64 = number | bigint

/** Kinds that hold a number, and so may be a counter, a gauge or a value. */
export type NumericKind = Exclude<Kind, 'char' | 'symbol' | 'bool'>

type ScalarOf<K extends Kind> = K extends 'u64' | 'i64' ? Integer64 : K extends 'bool' ? boolean : number

function make<V>(
  kind: Kind,
  role: Role,
  options: FieldOptions | undefined,
  made: Partial<Pick<Field, 'count' | 'edges'>> = {},
): Field<V, false> {
  // `defineType` looks at the others: it knows the name of the field.
  const own = Object.keys(options ?? {}).find((name) => MADE.includes(name))
  if (own !== undefined) {
    const advice =
      'allowed: help, unit, metric, labels, metricType, class; see array, buckets, optional and timestamp for the others'
    throw new SondeError('SCH_FIELD', `${own} is no option of a ${role}; ${advice}`)
  }
  return { ...options, ...made, kind, role, count: made.count ?? 1, optional: false }
}

/**
 * Whoever does not compile may give more than a function takes, such as options to a label: they would have no effect.
 */
function refuseMore(name: string, more: readonly unknown[]): void {
  if (more.length === 0) return
  throw new SondeError('SCH_FIELD', `${name} was given ${shown(more[0])} beyond what it takes; see its arguments`)
}

/**
 * The time of the sample: nanoseconds (default) or microseconds since the Unix epoch as a u64. It should be the first
 * field of a type; a type has at most one timestamp.
 */
export function timestamp(resolution: 'ns' | 'us' = 'ns', ...more: never[]): Field<Integer64, false> {
  refuseMore('timestamp', more)
  return { kind: 'u64', role: 'timestamp', count: 1, optional: false, resolution, help: 'Time of the sample' }
}

/** Text that identifies the series, kept as a symbol: sent once, four bytes a record. Use it for text that repeats. */
export function label(help?: string, ...more: never[]): Field<string, false> {
  refuseMore('label', more)
  return make('symbol', 'label', help === undefined ? {} : { help })
}

/** An integer that identifies the series (a port, an index). */
export function labelNumber(kind: 'u8' | 'u16' | 'u32', help?: string, ...more: never[]): Field<number, false> {
  refuseMore('labelNumber', more)
  return make(kind, 'label', help === undefined ? {} : { help })
}

/** A total that only rises, until its device restarts. */
export function counter<K extends NumericKind>(
  kind: K,
  options?: FieldOptions,
  ...more: never[]
): Field<ScalarOf<K>, false> {
  refuseMore('counter', more)
  return make(kind, 'counter', options)
}

/** A measurement that moves both ways. */
export function gauge<K extends NumericKind | 'bool'>(
  kind: K,
  options?: FieldOptions,
  ...more: never[]
): Field<ScalarOf<K>, false> {
  refuseMore('gauge', more)
  return make(kind, 'gauge', options)
}

/** A number that is data but no metric: it is kept and read back, and no view draws it. */
export function value<K extends NumericKind | 'bool'>(
  kind: K,
  options?: FieldOptions,
  ...more: never[]
): Field<ScalarOf<K>, false> {
  refuseMore('value', more)
  return make(kind, 'value', options)
}

/** Repeating text that is data but does not identify the series. */
export function text(options?: FieldOptions, ...more: never[]): Field<string, false> {
  refuseMore('text', more)
  return make('symbol', 'value', options)
}

/**
 * Text of at most `bytes - 1` UTF-8 bytes inside the record, NUL padded: `char[n]` of a C struct. Range of `bytes`: 1
 * to 65 535. A label unless said otherwise.
 */
export function chars(
  bytes: number,
  options?: FieldOptions & { role?: 'label' | 'value' },
  ...more: never[]
): Field<string, false> {
  refuseMore('chars', more)
  const { role = 'label', ...rest } = options ?? {}
  return make('char', role, rest, { count: bytes })
}

/**
 * The bins of a histogram, each counting its own (not cumulative); `edges` has one element fewer than there are bins.
 *
 * @throws SondeError `SCH_FIELD` unless there is an edge and all of them are finite and ascend.
 */
export function buckets<K extends 'u32' | 'u64'>(
  kind: K,
  edges: readonly number[],
  options?: FieldOptions,
  ...more: never[]
): Field<readonly ScalarOf<K>[], false> {
  refuseMore('buckets', more)
  if (
    !Array.isArray(edges) ||
    edges.length === 0 ||
    !edges.every((edge, i) => Number.isFinite(edge) && !(edge <= (edges[i - 1] ?? -Infinity)))
  ) {
    throw new SondeError(
      'SCH_FIELD',
      `edges ${Array.isArray(edges) ? `[${edges.slice(0, 20)}]` : shown(edges)} of a histogram; allowed: finite, ascending, at least one`,
    )
  }
  return make(kind, 'bucket', options, { edges, count: edges.length + 1 })
}

/**
 * A record inside a record. The fields of the type keep their roles, except a timestamp, which becomes data: a record
 * has one time. In an array, all fields are data. Metrics are named `<type>_<outer>_<inner>`, without constant labels.
 * The layout of the outer type applies.
 *
 * @throws SondeError `SCH_FIELD` if the argument is no type, or an option is unknown.
 * @example
 * const side = defineType('side', 'One direction', { bytes: counter('u64'), errors: counter('u32') })
 * const link = defineType('link', 'A link', { time: timestamp(), rx: nested(side), lanes: array(nested(lane), 4) })
 */
export function nested<F extends Fields>(
  type: RecordType<F>,
  options?: { help?: string },
  ...more: never[]
): NestedField<RecordOf<RecordType<F>>, false> {
  refuseMore('nested', more)
  if (!isType(type)) {
    throw new SondeError('SCH_FIELD', `nested was given ${shown(type)}; allowed: a type that defineType made`)
  }
  const unknown = unknownOption(options ?? {}, { help: true })
  if (unknown !== undefined) throw new SondeError('SCH_FIELD', `nested record of type ${type.name}: ${unknown}`)
  const { help = type.description } = options ?? {}
  return { kind: 'record', role: 'value', count: 1, optional: false, help, type: type.name, fields: type.fields }
}

/**
 * A fixed-length array of a numeric or bool field, or of nested records. Unit of `count`: elements. Range: 2 to 65 535.
 *
 * @throws SondeError `SCH_FIELD` for another count, for text, and for what is an array already.
 */
export function array<V extends Readonly<Record<string, unknown>>>(
  field: NestedField<V, false>,
  count: number,
): NestedField<readonly V[], false>
export function array<V extends Integer64 | boolean>(field: Field<V, false>, count: number): Field<readonly V[], false>
export function array(field: Field | NestedField, count: number, ...more: unknown[]): Field | NestedField {
  refuseMore('array', more)
  const isScalar = field?.count === 1 && field.kind !== 'char' && field.kind !== 'symbol'
  if (!Number.isInteger(count) || count < 2 || count > 65_535 || !isScalar) {
    throw new SondeError(
      'SCH_FIELD',
      `an array of ${shown(count)} of ${field?.kind === undefined ? shown(field) : `kind ${field.kind}`}; allowed: 2 to 65535 scalars or nested records`,
    )
  }
  return { ...field, count }
}

/** A field that a record may omit; it is then absent, not 0. */
export function optional<V>(field: NestedField<V, false>): NestedField<V, true>
export function optional<V>(field: Field<V, false>): Field<V, true>
export function optional(field: Field | NestedField, ...more: unknown[]): Field | NestedField {
  refuseMore('optional', more)
  return { ...field, optional: true }
}
