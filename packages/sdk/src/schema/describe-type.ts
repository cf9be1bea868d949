import type { EntityClaim } from './entity.ts'
import type { Field, FieldClass } from './field.ts'
import type { RecordType } from './record-type.ts'
import type { Labels } from './series.ts'

interface FieldDescription {
  readonly name: string
  readonly kind: Field['kind']
  readonly role: Field['role']
  /** Empty if there is none. */
  readonly unit: string
  /** Absent if it is not known, as of an engine. */
  readonly class?: FieldClass
  readonly help: string
}

/** The metric of a field. */
interface MetricDescription {
  readonly metric: string
  /** Constant labels of the field in the metric; absent if it has none. */
  readonly labels?: Labels
  /** Upper edges of the bins of a histogram without the last, in its unit. */
  readonly edges?: readonly number[]
}

/** A record type, as the API lists it. */
export interface TypeDescription {
  readonly name: string
  readonly description: string
  readonly labels: readonly string[]
  /** The entity that its records describe; absent if it declares none. */
  readonly entity?: EntityClaim
  /** Its metrics. */
  readonly fields: readonly (FieldDescription & MetricDescription)[]
  /** The other fields: texts, values and data. `count` is the number of elements. */
  readonly records: readonly (FieldDescription & { readonly count: number })[]
}

/** Describes a type for lists of metrics. */
export function describeType({ name, description, labels, layout, metrics, entity }: RecordType): TypeDescription {
  const fields: TypeDescription['fields'][number][] = []
  const records: TypeDescription['records'][number][] = []
  for (const slot of layout.slots) {
    const { kind, role, count, unit = '', help = '', labels: constant, edges, class: fieldClass = 'core' } = slot.field
    const metric = metrics.get(slot.name)
    const more = { ...(constant === undefined ? {} : { labels: constant }), ...(edges === undefined ? {} : { edges }) }
    const told = { name: slot.name, kind, role, unit, class: fieldClass, help }
    if (metric !== undefined) fields.push({ ...told, metric, ...more })
    else if (role !== 'label' && role !== 'timestamp') records.push({ ...told, count })
  }
  const about = entity === undefined ? {} : { entity }
  return { name, description, labels: labels.map((label) => label.name), ...about, fields, records }
}
