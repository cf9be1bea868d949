import type { ListedMetric, ListedType } from '@sonde/sdk/api'
import { compareNames } from '../../format/names.ts'
import { metricsOfType } from '../../state/listed-metrics.ts'

/** Most rows of a filtered list. A longer filter finds the others. */
export const ROW_LIMIT_COUNT = 200

/** The metrics of one type. */
export interface MetricGroup {
  readonly type: ListedType
  /** Number of matching metrics. */
  readonly count: number
  readonly isOpen: boolean
  /** Metrics listed below the head; empty while the group is closed. */
  readonly shown: readonly ListedMetric[]
}

/**
 * Groups the catalogue by type, Sonde's own types last. Groups are closed because there are hundreds of rows; a filter
 * opens groups with matches. `toggled` types are inverted. `leftOutCount` counts matches beyond the limit.
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
    const fields = metricsOfType(type).filter(({ metric, help }) =>
      `${type.name} ${metric} ${help} ${type.description}`.toLowerCase().includes(sought),
    )
    if (fields.length === 0) return []
    const isOpen = (sought !== '') !== toggled.has(type.name)
    const shown = isOpen ? fields.slice(0, sought === '' ? fields.length : room) : []
    room -= shown.length
    if (isOpen) leftOutCount += fields.length - shown.length
    return [{ type, count: fields.length, isOpen, shown }]
  })
  return { groups, count: types.reduce((sum, type) => sum + metricsOfType(type).length, 0), leftOutCount }
}

/**
 * Types with other content than metrics that match the filter, by name, Sonde's own types last. Versions of a type
 * count once, because the command prints all of them.
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

/** Sorts Sonde's own types last. */
function byOwnThenName(a: ListedType, b: ListedType): number {
  return Number(isOwn(a)) - Number(isOwn(b)) || compareNames(a.name, b.name)
}

/** Whether a type is about Sonde itself. */
function isOwn({ name }: ListedType): boolean {
  return name.startsWith('sonde_')
}
