import type { MetricQuery } from '@sonde/sdk/api'
import type { DeviceInfo } from '../api/devices.ts'
import type { QueryColumns } from '../api/query-client.ts'
import type { GridColumn } from '../api/sample-grid.ts'
import { isSeriesOf, labelsFor } from './device.ts'
import { lastValue, type ReadSpan } from './device-reading.ts'
import { isQuiet } from './interface-data.ts'
import { DEVICE_QUERIES, type DeviceSignal } from './signals.ts'

/** The samples of a device by signal. Signals without samples are missing. */
export type DeviceColumns = Readonly<Partial<Record<DeviceSignal, Float64Array>>>

/** Whether a device has no recent value, or none in a past window. */
export function isSilent(columns: DeviceColumns, span: ReadSpan): boolean {
  return Object.values(columns).every((values) => Number.isNaN(lastValue(values, span)))
}

/** Whether a GPU ran no kernel in the window, or a NIC carried nothing. */
export function isIdleDevice({ sm, utilisation, ...nic }: DeviceColumns): boolean {
  return isQuiet([sm, utilisation, nic.sent ?? nic.interfaceSent, nic.received ?? nic.interfaceReceived])
}

/** How many present devices have no recent sample, or none in a past window. */
export function silentCountOf(
  devices: readonly DeviceInfo[],
  columns: ReadonlyMap<string, DeviceColumns>,
  span: ReadSpan,
): number {
  return devices.filter(({ id, state }) => state !== 'gone' && isSilent(columns.get(id) ?? {}, span)).length
}

/** The queried signals. */
const SIGNALS = Object.entries(DEVICE_QUERIES) as [DeviceSignal, MetricQuery][]

/** Assigns the answers to {@link DEVICE_QUERIES} to devices, by id. */
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

/** Assigns the columns of an answer to devices, by id. Devices without a column are missing. */
export function dealtOut(
  devices: readonly DeviceInfo[],
  query: MetricQuery,
  answer: QueryColumns,
): ReadonlyMap<string, GridColumn> {
  const columns = answer.columns(query)
  const label = devices[0]?.claims.get(query.metric)?.key[0]
  if (columns.length === 0 || label === undefined) return new Map()
  // Looks columns up by name first. Comparing every column with every device is too slow with hundreds of ports.
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
