import type { EntityClaim } from './entity.ts'
import type { Field } from './field.ts'
import type { RecordType } from './record-type.ts'

interface FieldDescription {
  readonly name: string
  readonly kind: Field['kind']
  readonly role: Field['role']
  /** Empty if there is none. */
  readonly unit: string
  readonly help: string
}

/** A record type as the API lists it. */
export interface TypeDescription {
  readonly name: string
  readonly description: string
  readonly labels: readonly string[]
  /** What its records are about; absent if it does not tell. */
  readonly entity?: EntityClaim
  /** Its metrics. `edges` are the upper edges of a histogram's bins but the last, in the unit; others have none. */
  readonly fields: readonly (FieldDescription & { readonly metric: string; readonly edges?: readonly number[] })[]
  /** The fields that are no metrics, labels or timestamps: texts, values and data. `count` is that of elements. */
  readonly records: readonly (FieldDescription & { readonly count: number })[]
}

/** Describes a type for people who look for something to ask. */
export function describeType({ name, description, labels, layout, metrics, entity }: RecordType): TypeDescription {
  const fields: TypeDescription['fields'][number][] = []
  const records: TypeDescription['records'][number][] = []
  for (const slot of layout.slots) {
    const { kind, role, count, unit = '', help = '', edges } = slot.field
    const metric = metrics.get(slot.name)
    const bins = edges === undefined ? {} : { edges }
    if (metric !== undefined) fields.push({ name: slot.name, kind, role, unit, help, metric, ...bins })
    else if (role !== 'label' && role !== 'timestamp') records.push({ name: slot.name, kind, role, count, unit, help })
  }
  const about = entity === undefined ? {} : { entity }
  return { name, description, labels: labels.map((label) => label.name), ...about, fields, records }
}
