import { SondeError } from '../../errors.ts'
import { buckets, counter, type Field, gauge, label, optional, timestamp } from '../../schema/field.ts'
import { defineType, type RecordType } from '../../schema/record-type.ts'
import type { Source } from '../../source/source.ts'
import type { Row } from '../../source/table.ts'

/** The properties in which all declarations of a name must agree. */
export interface Declaration {
  readonly name: string
  /** A `counter` is incremented, a `total` is set. */
  readonly what: 'counter' | 'total' | 'gauge' | 'histogram'
  readonly kind: 'u64' | 'i64' | 'f64'
  readonly unit: string
  readonly edges: readonly number[]
}

/** A bound series, of one or several contexts. */
export interface Series {
  readonly row: Row
  readonly handle: object
  holders: number
}

/** A metric with one label set: a record type of one value, and its series by {@link labelsKey}. */
export interface Variant {
  readonly type: RecordType
  readonly labels: readonly string[]
  readonly series: Map<string, Series>
}

/** Limit of metrics (name and label set) of a source: the service accepts 256 types from a program. */
const METRIC_LIMIT = 250

const declared = new WeakMap<Source, Declarations>()

/**
 * The metrics of one source, for all its contexts: contexts with equal declarations share series; a conflicting
 * declaration is refused.
 */
export class Declarations {
  readonly #source: Source
  readonly #names = new Map<string, { readonly first: Declaration; readonly variants: Map<string, Variant> }>()
  #count = 0

  /** The declarations of a source. */
  static of(source: Source): Declarations {
    const known = declared.get(source) ?? new Declarations(source)
    declared.set(source, known)
    return known
  }

  /** Use `of`, not `new`: a source has one instance. */
  constructor(source: Source) {
    this.#source = source
  }

  /**
   * The variant of a metric with these labels, in any order.
   *
   * @throws SondeError `MTR_CONFLICT`, `MTR_LABELS`, `MTR_LIMIT`, or `SCH_…` if a name, a label or edges are not
   * allowed.
   */
  declare(wanted: Declaration, help: string, labels: readonly string[]): Variant {
    const { first = wanted, variants = new Map<string, Variant>() } = this.#names.get(wanted.name) ?? {}
    if (!agree(first, wanted)) {
      throw new SondeError(
        'MTR_CONFLICT',
        `metric ${wanted.name} is ${describe(first)} of this source already, and was now declared as ${describe(wanted)}; name one of them otherwise`,
      )
    }
    checkLabels(wanted, labels)
    const key = [...labels].sort().join()
    const known = variants.get(key)
    if (known !== undefined) return known
    if (this.#count >= METRIC_LIMIT) {
      throw new SondeError(
        'MTR_LIMIT',
        `metric ${wanted.name} would be one more than the ${METRIC_LIMIT} that a source has at most; tell things apart by labels, or use a second source`,
      )
    }
    const variant: Variant = { type: typeOf(wanted, help, labels), labels, series: new Map() }
    this.#source.admit(variant.type)
    this.#names.set(wanted.name, { first, variants: variants.set(key, variant) })
    this.#count++
    return variant
  }
}

/** The texts of labels, in the order of their names. */
export function labelsKey(names: readonly string[], labels: Readonly<Record<string, string>>): string {
  return JSON.stringify(names.map((name) => labels[name]))
}

/** The labels that {@link labelsKey} made a key of. */
export function keyLabels(names: readonly string[], key: string): Readonly<Record<string, string>> {
  const texts = JSON.parse(key) as readonly string[]
  return Object.fromEntries(names.map((name, i) => [name, texts[i] ?? '']))
}

function agree(a: Declaration, b: Declaration): boolean {
  return a.what === b.what && a.kind === b.kind && a.unit === b.unit && a.edges.join() === b.edges.join()
}

function describe({ what, kind, unit, edges }: Declaration): string {
  const form = edges.length === 0 ? '' : `, edges ${edges.slice(0, 20).join(' ')}`
  return `a ${what} of kind ${kind} ${unit === '' ? 'without unit' : `in ${unit}`}${form}`
}

/** Label names become fields of the record, beside its own. */
function checkLabels({ name, what }: Declaration, labels: readonly string[]): void {
  const taken = new Set(['time', name, ...(what === 'histogram' ? [`${name}_sum`, 'le'] : [])])
  for (const each of labels) {
    if (!taken.has(each)) taken.add(each)
    else {
      throw new SondeError(
        'MTR_LABELS',
        `metric ${name} cannot have a label ${JSON.stringify(each)}: it has one of that name already, or the name is its own; take another`,
      )
    }
  }
}

function typeOf(declaration: Declaration, help: string, labels: readonly string[]): RecordType {
  return defineType(declaration.name, help, {
    time: timestamp(),
    ...Object.fromEntries(labels.map((name) => [name, label()])),
    ...valueFields(declaration, help),
  })
}

function valueFields({ name, what, kind, unit, edges }: Declaration, help: string): Record<string, Field> {
  const options = { metric: name, help, ...(unit === '' ? {} : { unit }) }
  if (what === 'gauge') return { [name]: gauge(kind, options) }
  // A total that was never set is not 0.
  if (what === 'total') return { [name]: optional(counter(kind, options)) }
  if (what === 'counter') return { [name]: counter(kind, options) }
  const bins = { [name]: buckets('u64', edges, options) }
  if ((edges[0] ?? 0) < 0) return bins
  return { ...bins, [`${name}_sum`]: counter(kind, { ...options, metric: `${name}_sum` }) }
}
