import type { DeviceInfo } from '../api/devices.ts'
import type { Columns } from '../api/query-client.ts'
import type { GridColumn } from '../api/sample-grid.ts'
import type { MetricQuery } from '../api/types.ts'
import { isSeriesOf, labelsFor } from './device.ts'
import { newestValue } from './interface-data.ts'
import { DEVICE_QUERIES, type DeviceSignal } from './signals.ts'

/** The samples of one device by signal; what it does not say is missing. */
export type DeviceColumns = Readonly<Partial<Record<DeviceSignal, Float64Array>>>

/**
 * Over how much time the numbers of tiles are means. A training step takes seconds, so that single samples of a second
 * jump between the phases of a step. Unit: milliseconds.
 */
export const TILE_SPAN_MS = 10_000

/** The mean of the newest samples of a column over {@link TILE_SPAN_MS}, NaN where there is none. */
export function recentMean(values: Float64Array | undefined, stepMs: number): number {
  const count = Math.max(1, Math.round(TILE_SPAN_MS / stepMs))
  let sum = 0
  let known = 0
  for (let at = (values?.length ?? 0) - 1; values && at >= 0 && at >= values.length - count; at--) {
    if (Number.isNaN(values[at]!)) continue
    sum += values[at]!
    known++
  }
  return known === 0 ? newestValue(values) : sum / known
}

/** Whether no signal of a device has a value of late. */
export function isSilent(columns: DeviceColumns): boolean {
  return Object.values(columns).every((values) => Number.isNaN(newestValue(values)))
}

/** How many devices are there and give no sample of late. */
export function silentCountOf(devices: readonly DeviceInfo[], columns: ReadonlyMap<string, DeviceColumns>): number {
  return devices.filter(({ id, state }) => state !== 'gone' && isSilent(columns.get(id) ?? {})).length
}

/** Signals that were asked for. */
const SIGNALS = Object.entries(DEVICE_QUERIES) as [DeviceSignal, MetricQuery][]

/** Deals the answers to {@link DEVICE_QUERIES} out to devices, by id. */
export function deviceColumns(devices: readonly DeviceInfo[], answer: Columns): ReadonlyMap<string, DeviceColumns> {
  const { grid } = answer
  const found = new Map<string, Partial<Record<DeviceSignal, Float64Array>>>(devices.map(({ id }) => [id, {}]))
  if (!grid) return found
  for (const [signal, query] of SIGNALS) {
    for (const [id, column] of dealtOut(devices, query, answer)) found.get(id)![signal] = grid.slice(column)
  }
  return found
}

/** Deals the columns of one answer out to devices, by id; who has none of them is missing. */
export function dealtOut(
  devices: readonly DeviceInfo[],
  query: MetricQuery,
  answer: Columns,
): ReadonlyMap<string, GridColumn> {
  const columns = answer.columns(query)
  const label = devices[0]?.claims.get(query.metric)?.key[0]
  if (columns.length === 0 || label === undefined) return new Map()
  // Only the name is looked up fast: with hundreds of ports every column would be held against every device.
  const byName = Map.groupBy(columns, ({ labels }) => labels[label] ?? '')
  return new Map(
    devices.flatMap((device) => {
      const named = byName.get(labelsFor(device, query.metric)?.[label] ?? '')
      const column = named?.find(({ labels }) => isSeriesOf(device, query.metric, labels))
      return column ? [[device.id, column] as const] : []
    }),
  )
}
