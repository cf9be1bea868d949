import type { Labels, MetricQuery } from '@sonde/sdk/api'
import type { QueryColumns } from '../../api/query-client.ts'
import { type DeviceReading, lastValue, meanReading, type ReadSpan } from '../../devices/device-reading.ts'

const last = (metric: string): MetricQuery => ({ metric, function: 'last' })

const QUERIES = {
  waiting: last('host_cgroup_pressure_waiting_ratio'),
  stalled: last('host_cgroup_pressure_stalled_ratio'),
  read: last('host_cgroups_groups_read'),
  skipped: last('host_cgroups_groups_skipped'),
} as const satisfies Record<string, MetricQuery>

/** Rows of a past window, in which many groups may have been among those that wait. */
const ROWS_SHOWN = 15

/** The queries about control groups with pressure. */
export const PRESSURE_CAUSE_QUERIES: readonly MetricQuery[] = Object.values(QUERIES)

/** A control group whose tasks wait. */
export interface PressureCause {
  readonly resource: string
  readonly cgroup: string
  /** Pod, unit or user behind it; empty if unknown. */
  readonly owner: string
  /** Shares of time from 0 to 1. */
  readonly waiting: DeviceReading
  readonly stalled: DeviceReading
}

/** The control groups that wait, those that wait longest first; undefined if nothing searches for them. */
export interface PressureCauses {
  readonly rows: readonly PressureCause[]
  /** Control groups that a limit left out of the last search. */
  readonly skipped: number
}

/** Reads the causes of pressure; undefined where nothing searches for them. */
export function pressureCauses(answer: QueryColumns, span: ReadSpan): PressureCauses | undefined {
  const { grid } = answer
  if (!grid) return undefined
  const series = (query: MetricQuery) =>
    answer
      .columns(query)
      .filter(({ labels }) => labels.simulated !== 'true')
      .map((column) => ({ labels: column.labels, values: grid.slice(column) }))
  const newest = (query: MetricQuery) => lastValue(series(query)[0]?.values, span)
  // Without a search there is no proof that nothing waits.
  if (Number.isNaN(newest(QUERIES.read))) return undefined
  const stalls = new Map(series(QUERIES.stalled).map(({ labels, values }) => [keyOf(labels), values]))
  const rows = series(QUERIES.waiting).map(({ labels, values }) => ({
    resource: labels.resource ?? '',
    cgroup: labels.cgroup ?? '',
    owner: labels.owner ?? '',
    waiting: meanReading(values, span),
    stalled: meanReading(stalls.get(keyOf(labels)), span),
  }))
  return {
    rows: rows
      .filter(({ waiting }) => waiting.value > 0)
      .toSorted((a, b) => b.waiting.value - a.waiting.value)
      .slice(0, ROWS_SHOWN),
    skipped: newest(QUERIES.skipped),
  }
}

function keyOf({ resource, cgroup, owner }: Labels): string {
  return `${resource} ${cgroup} ${owner}`
}
