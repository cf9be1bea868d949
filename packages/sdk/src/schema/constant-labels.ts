import type { Field } from './field.ts'
import { isOwnLabel, type SourceFault } from './label-rules.ts'
import type { Slot } from './layout.ts'
import type { RecordType } from './record-type.ts'
import { type Labels, seriesKey } from './series.ts'

/** Limit of the constant labels of one field. Policy: the declaration is refused. */
const CONSTANT_LABEL_COUNT_MAX = 8
/** Longest value. Unit: characters. Policy: the declaration is refused. */
const CONSTANT_LABEL_CHARACTERS_MAX = 200
const NAME = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]{0,127}$/
/** Labels that the exposition adds to the lines of histograms, summaries and arrays. */
const OF_LINES: ReadonlySet<string> = new Set(['le', 'quantile', 'index'])
const ROLES: readonly Field['role'][] = ['counter', 'gauge', 'bucket']

/** The first invalid part of the constant labels of a field; undefined if all parts are valid. */
export function faultOfConstantLabels({
  role,
  labels,
}: {
  readonly role: Field['role']
  readonly labels?: unknown
}): SourceFault | undefined {
  if (labels === undefined) return undefined
  if (!ROLES.includes(role)) return { place: `labels of a ${role}`, given: labels, allowed: `none; ${ROLES} have them` }
  if (labels === null || typeof labels !== 'object' || Array.isArray(labels))
    return { place: 'labels', given: labels, allowed: "texts by name, such as { mode: 'user' }" }
  const entries: [string, unknown][] = Object.entries(labels)
  if (entries.length === 0 || entries.length > CONSTANT_LABEL_COUNT_MAX)
    return { place: 'labels', given: `${entries.length} labels`, allowed: `1 to ${CONSTANT_LABEL_COUNT_MAX} labels` }
  for (const [name, value] of entries) {
    if (!NAME.test(name) || OF_LINES.has(name) || isOwnLabel(name)) {
      const allowed = `letters, digits and _, at most 128, no digit or __ first, and not ${[...OF_LINES].join(', ')} or simulated`
      return { place: 'labels', given: name, allowed }
    }
    if (typeof value !== 'string' || value === '' || value.length > CONSTANT_LABEL_CHARACTERS_MAX)
      return {
        place: `labels.${name}`,
        given: value,
        allowed: `text of 1 to ${CONSTANT_LABEL_CHARACTERS_MAX} characters`,
      }
  }
  return undefined
}

/** The constant labels of a field as one text, sorted by name: `mode="user"`. Empty if it has none. */
export function constantLabelText({ labels = {} }: Field): string {
  return seriesKey(Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))))
}

/** The names of the constant labels of all metrics of a type. */
export function constantLabelNames({ layout, metrics }: Pick<RecordType, 'layout' | 'metrics'>): ReadonlySet<string> {
  const fields = layout.slots.filter(({ name }) => metrics.has(name))
  return new Set(fields.flatMap(({ field }) => Object.keys(field.labels ?? {})))
}

/**
 * Makes the function from the labels of a series to the labels of its field in a metric: constant labels are added. A
 * label of the source with the name of a constant label of the type is renamed, as in the exposition.
 */
export function fieldLabelsOf(type: RecordType, { field }: Slot): (series: Labels) => Labels {
  const constant = constantLabelNames(type)
  if (constant.size === 0) return (series) => series
  return (series) => {
    const renamed = Object.entries(series).map(([name, value]) => [
      constant.has(name) ? exportedName(name) : name,
      value,
    ])
    return { ...Object.fromEntries(renamed), ...field.labels }
  }
}

/** The name of a label whose own name the metric needs for another label. */
export function exportedName(name: string): string {
  return `exported_${name}`
}
