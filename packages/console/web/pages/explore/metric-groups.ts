import type { ListedMetric, ListedType } from '@sonde/sdk/api'
import { compareNames } from '../../format/names.ts'

/** Rows that a filter shows at most; more words find the others. */
export const ROW_LIMIT_COUNT = 200

/** The metrics of one type. */
export interface MetricGroup {
  readonly type: ListedType
  /** How many match. */
  readonly count: number
  readonly isOpen: boolean
  /** Those that stand below its head; none while it is closed. */
  readonly shown: readonly ListedMetric[]
}

/**
 * The catalogue by type, Sonde's own types last. Closed, as it has hundreds of rows; a filter opens what it finds
 * something in. `toggled` types are the other way round, and `leftOutCount` is what matches beyond the limit.
 */
export function metricGroups(
  types: readonly ListedType[],
  filter: string,
  toggled: ReadonlySet<string>,
): { readonly groups: readonly MetricGroup[]; readonly count: number; readonly leftOutCount: number } {
  const sought = filter.trim().toLowerCase()
  let room = ROW_LIMIT_COUNT
  let leftOutCount = 0
  const groups = types.toSorted(byOwnThenName).flatMap((type): readonly MetricGroup[] => {
    const fields = type.fields.filter(({ metric, help }) =>
      `${type.name} ${metric} ${help} ${type.description}`.toLowerCase().includes(sought),
    )
    if (fields.length === 0) return []
    const isOpen = (sought !== '') !== toggled.has(type.name)
    const shown = isOpen ? fields.slice(0, sought === '' ? fields.length : room) : []
    room -= shown.length
    if (isOpen) leftOutCount += fields.length - shown.length
    return [{ type, count: fields.length, isOpen, shown }]
  })
  return { groups, count: types.reduce((sum, { fields }) => sum + fields.length, 0), leftOutCount }
}

/**
 * Types that hold more than metrics, or none, by name, and Sonde's own last. Of those the ones whose texts have what is
 * sought. Several versions of a type are one: a command prints them all.
 */
export function recordTypes(types: readonly ListedType[], filter: string): readonly ListedType[] {
  const sought = filter.trim().toLowerCase()
  const newest = new Map(types.toReversed().map((type) => [type.name, type]))
  return [...newest.values()]
    .filter(({ name, description, fields, records }) => {
      const words = [name, description, ...records.flatMap((field) => [field.name, field.help])]
      return (records.length > 0 || fields.length === 0) && words.join(' ').toLowerCase().includes(sought)
    })
    .toSorted(byOwnThenName)
}

/** Sonde's own types stand last. */
function byOwnThenName(a: ListedType, b: ListedType): number {
  return Number(isOwn(a)) - Number(isOwn(b)) || compareNames(a.name, b.name)
}

/** Whether a type is about Sonde itself. */
function isOwn({ name }: ListedType): boolean {
  return name.startsWith('sonde_')
}
