import { constantLabelText } from '../../schema/constant-labels.ts'
import type { Role } from '../../schema/field.ts'
import { sumSlotOf } from '../../schema/histogram.ts'
import type { Slot } from '../../schema/layout.ts'
import type { RecordType } from '../../schema/record-type.ts'
import { counterBase, type FamilyInfo, namesOf } from '../../wire/prometheus/header.ts'
import { numberClass } from '../../wire/prometheus/lanes.ts'

/**
 * Columns of a family whose types the reason of a refusal names; thousands of versions of a type may share a metric.
 */
const NAMED_COLUMNS = 8

/** A metric that a type was refused, because another has its name. */
export interface MetricConflict {
  readonly metric: string
  /** The type that was refused, and the field it names the metric with. */
  readonly type: string
  readonly field: string
  /** What the two disagree in, and what to do. */
  readonly reason: string
  /** The metric that has the name. Undefined if the field fits no metric at all. */
  readonly owner: string | undefined
}

/** A type with its columns, for the book of names. */
export interface ClaimingTable<C> {
  readonly type: RecordType
  /** Whether a source of this process has had records of it: its names go before those of clients. */
  isOwn: boolean
  readonly columns: readonly C[]
  add(column: C): void
  remove(column: C): void
}

/** A metric of a type with its family. */
export interface ClaimedColumn<C> {
  readonly table: ClaimingTable<C>
  readonly family: Family<C>
  readonly slots: MetricFields['slots']
}

/** A metric of a type that has no column. */
export interface Refused<C> {
  readonly table: ClaimingTable<C>
  readonly fields: MetricFields
  /** The family that has the name. Undefined if the fields fit no metric at all. */
  readonly owner: Family<C> | undefined
  /**
   * What the two disagree in: in words only when somebody asks, since it names all types of the owner as they are then.
   */
  reason(): string
}

/** A metric and the columns of all types that fill it. */
export interface Family<C> extends FamilyInfo {
  /** The short name that OpenMetrics would give it, where that is another. */
  readonly base: string | undefined
  readonly help: string
  /** Lines of one family can be compared only if their labels have the same form. */
  readonly shape: string
  /** A new array after each change of the columns, so that holders of the old array are not affected. */
  columns: readonly C[]
  /** Metrics of other types that wait for a name of this family. */
  readonly refused: Set<Refused<C>>
  /** The columns and table shapes for which the left-out rows were computed. */
  decided: { readonly columns: readonly C[]; readonly shapes: number } | undefined
}

/** A metric with constant labels as a type declares it: one field, or several of which the first present is shown. */
export interface MetricFields {
  readonly metric: string
  readonly slots: readonly [Slot, ...Slot[]]
}

/** The metrics of a type. The field with a histogram's sum belongs to the histogram. */
export function metricsOf(type: RecordType): MetricFields[] {
  const { slots } = type.layout
  const sums = new Set(slots.filter(({ field }) => field.role === 'bucket').map((slot) => sumSlotOf(type, slot)))
  const metrics = new Map<string, { readonly metric: string; readonly slots: [Slot, ...Slot[]] }>()
  for (const slot of slots) {
    const metric = type.metrics.get(slot.name)
    if (metric === undefined || sums.has(slot)) continue
    const key = `${metric}{${constantLabelText(slot.field)}}`
    const known = metrics.get(key)
    if (known === undefined) metrics.set(key, { metric, slots: [slot] })
    else known.slots.push(slot)
  }
  return [...metrics.values()]
}

/** Makes the column of a metric of a type. */
export type MakeColumn<C> = (table: ClaimingTable<C>, family: Family<C>, slots: MetricFields['slots']) => C

/** All families by name. The first type to name a metric decides its kind and unit; any that disagrees is refused. */
export class Families<C extends ClaimedColumn<C>> {
  readonly #families = new Map<string, Family<C>>()
  /** The family that writes a name, be it in TYPE or as the name of a sample. */
  readonly #owners = new Map<string, Family<C>>()
  readonly #makeColumn: MakeColumn<C>

  constructor(makeColumn: MakeColumn<C>) {
    this.#makeColumn = makeColumn
  }

  /** In order of appearance. */
  all(): Iterable<Family<C>> {
    return this.#families.values()
  }

  /** The families that a metric of a type would have to share a name with. */
  inTheWay({ type }: ClaimingTable<C>, { metric, slots }: MetricFields): Family<C>[] {
    if (unfitReason(type, slots) !== undefined) return []
    return [...new Set(namesOf(familyOf<C>(type, metric, slots[0])).flatMap((name) => this.#owners.get(name) ?? []))]
  }

  /** Forgets all. */
  clear(): void {
    this.#families.clear()
    this.#owners.clear()
  }

  /** Gives a metric of a type a column in the family of that name, or says why it gets none. */
  join(table: ClaimingTable<C>, fields: MetricFields): { readonly column: C } | Refused<C> {
    const { metric, slots } = fields
    const unfit = unfitReason(table.type, slots)
    if (unfit !== undefined) return { table, fields, owner: undefined, reason: () => unfit }
    const wanted = familyOf<C>(table.type, metric, slots[0])
    const known = this.#families.get(metric)
    if (known !== undefined && !agree(known, wanted)) {
      return refusedBy(known, table, fields, () => disagreement(known, wanted, table.type.name))
    }
    if (known === undefined) {
      for (const name of namesOf(wanted)) {
        const owner = this.#owners.get(name)
        if (owner !== undefined) return refusedBy(owner, table, fields, () => ownership(name, owner))
      }
      this.#families.set(metric, wanted)
      for (const name of namesOf(wanted)) this.#owners.set(name, wanted)
    }
    const family = known ?? wanted
    const column = this.#makeColumn(table, family, slots)
    family.columns = [...family.columns, column]
    return { column }
  }

  /**
   * Removes columns and empty families. Returns the metrics that waited for the names of the removed families.
   */
  leave(columns: Iterable<C>): Refused<C>[] {
    const free: Refused<C>[] = []
    for (const column of columns) {
      const { family } = column
      family.columns = family.columns.filter((other) => other !== column)
      if (family.columns.length > 0) continue
      this.#families.delete(family.name)
      for (const name of namesOf(family)) this.#owners.delete(name)
      for (const refused of family.refused) free.push(refused)
    }
    return free
  }

  /** Whether another family uses the short name that OpenMetrics would give this counter. */
  isBaseTaken(family: Family<C>): boolean {
    return family.base !== undefined && this.#owners.has(family.base)
  }
}

const KINDS: { readonly [R in Role]?: FamilyInfo['kind'] } = { bucket: 'histogram', counter: 'counter' }

function familyOf<C>(type: RecordType, name: string, { name: fieldName, field }: Slot): Family<C> {
  const kind = field.metricType ?? KINDS[field.role] ?? 'gauge'
  const shape = field.role === 'bucket' ? 'bins' : field.count > 1 ? 'an array' : 'a scalar'
  const help = field.help || `${type.description || type.name}: ${fieldName}`
  const unit = field.unit ?? ''
  const base = counterBase({ name, kind, unit })
  return { name, base, kind, unit, help, shape, columns: [], refused: new Set(), decided: undefined }
}

function unfitReason(type: RecordType, slots: MetricFields['slots']): string | undefined {
  const [first, ...others] = slots
  const { kind, role } = first.field
  if (kind === 'char' || kind === 'symbol') return `a field of kind ${kind} is no number`
  if (role === 'bucket' && kind !== 'u32' && kind !== 'u64') return `a histogram of kind ${kind}; allowed: u32 and u64`
  for (const [i, { name, field }] of others.entries()) {
    const before = slots[i]?.field
    if (before?.optional !== true) return `${slots[i]?.name} is always there, so that ${name} would never be shown`
    const alike =
      agree(familyOf(type, '', first), familyOf(type, '', { ...first, field })) &&
      numberClass(first) === numberClass({ ...first, field }) &&
      field.count === first.field.count &&
      role !== 'bucket'
    if (!alike)
      return `${name} and ${first.name} differ in more than their name; name one of them otherwise with \`metric\``
  }
  return undefined
}

function refusedBy<C>(
  owner: Family<C>,
  table: ClaimingTable<C>,
  fields: MetricFields,
  reason: () => string,
): Refused<C> {
  const refused = { table, fields, owner, reason }
  owner.refused.add(refused)
  return refused
}

function agree(known: FamilyForm, wanted: FamilyForm): boolean {
  return known.kind === wanted.kind && known.unit === wanted.unit && known.shape === wanted.shape
}

function disagreement<C extends ClaimedColumn<C>>(known: Family<C>, wanted: Family<C>, wantedBy: string): string {
  const owners = namesOfTypes(known).map((name) => (name === wantedBy ? `another version of ${name}` : name))
  return `it is ${describe(wanted)} in ${wantedBy}, but ${describe(known)} in ${owners.join(' and ')}; name one of them otherwise with \`metric\``
}

function ownership<C extends ClaimedColumn<C>>(name: string, owner: Family<C>): string {
  const owners = namesOfTypes(owner).join(' and ')
  return `${name} belongs to the ${owner.kind} ${owner.name} of ${owners}; name one of them otherwise with \`metric\``
}

type FamilyForm = Pick<Family<unknown>, 'kind' | 'unit' | 'shape'>

function describe({ kind, unit, shape }: FamilyForm): string {
  return `a ${kind} ${unit === '' ? 'without unit' : `in ${unit}`} (${shape})`
}

/** The first types of a family, each once: versions of a type, and sources of one, have columns of their own. */
function namesOfTypes<C extends ClaimedColumn<C>>({ columns }: Family<C>): string[] {
  const names = new Set<string>()
  for (const { table } of columns.slice(0, NAMED_COLUMNS)) names.add(table.type.name)
  const left = columns.length - NAMED_COLUMNS
  return left > 0 ? [...names, `${left} more`] : [...names]
}
