import type { MetricQuery } from '@sonde/sdk/api'
import type { DeviceInfo } from '../api/devices.ts'
import type { QueryColumns } from '../api/query-client.ts'
import type { GridColumn } from '../api/sample-grid.ts'
import { isSeriesOf, labelsFor } from './device.ts'
import { lastValue, type ReadSpan } from './device-reading.ts'
import { DEVICE_QUERIES, type DeviceSignal } from './signals.ts'

/** The samples of one device by signal; what it does not say is missing. */
export type DeviceColumns = Readonly<Partial<Record<DeviceSignal, Float64Array>>>

/** Whether no signal of a device has a value of late, or in all of the window. */
export function isSilent(columns: DeviceColumns, span: ReadSpan): boolean {
  return Object.values(columns).every((values) => Number.isNaN(lastValue(values, span)))
}

/** How many devices are there and give no sample of late, or in all of the window. */
export function silentCountOf(
  devices: readonly DeviceInfo[],
  columns: ReadonlyMap<string, DeviceColumns>,
  span: ReadSpan,
): number {
  return devices.filter(({ id, state }) => state !== 'gone' && isSilent(columns.get(id) ?? {}, span)).length
}

/** Signals that were asked for. */
const SIGNALS = Object.entries(DEVICE_QUERIES) as [DeviceSignal, MetricQuery][]

/** Deals the answers to {@link DEVICE_QUERIES} out to devices, by id. */
export function deviceColumns(
  devices: readonly DeviceInfo[],
  answer: QueryColumns,
): ReadonlyMap<string, DeviceColumns> {
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
  answer: QueryColumns,
): ReadonlyMap<string, GridColumn> {
  const columns = answer.columns(query)
  const label = devices[0]?.claims.get(query.metric)?.key[0]
  if (columns.length === 0 || label === undefined) return new Map()
  // Only the name is looked up fast: with hundreds of ports every column would be held against every device.
  const byName = Map.groupBy(columns, ({ labels }) => labels[label] ?? '')
  return new Map(
    devices.flatMap((device) => {
      const named = byName.get(labelsFor(device, query.metric)?.[label] ?? '')
      const own = named?.filter(({ labels }) => isSeriesOf(device, query.metric, labels)) ?? []
      // Parts of a device, such as MIG instances, have the labels of the device and more.
      const [column] = own.toSorted((a, b) => Object.keys(a.labels).length - Object.keys(b.labels).length)
      return column ? [[device.id, column] as const] : []
    }),
  )
}
