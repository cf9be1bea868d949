import type { MetricQuery } from '@sonde/sdk/api'
import type { DeviceInfo } from '../../api/devices.ts'
import type { QueryColumns } from '../../api/query-client.ts'
import { deviceTitle } from '../../devices/device.ts'
import { dealtOut } from '../../devices/device-columns.ts'
import { newestValue } from '../../devices/interface-data.ts'
import { compareNames } from '../../format/names.ts'
import { PORT_QUERIES, type PortColumn } from './port-signals.ts'

/** A port with its columns. Columns that no source reports are missing. */
export interface PortRow {
  readonly device: DeviceInfo
  /** Name in the table and in charts. */
  readonly label: string
  readonly columns: Readonly<Partial<Record<PortColumn, Float64Array>>>
}

/** Ports in the order of their rails; ports without a rail come last. */
export function fabricPorts(devices: readonly DeviceInfo[]): readonly DeviceInfo[] {
  return devices
    .filter(({ kind }) => kind === 'nic')
    .toSorted(
      (a, b) =>
        (a.rail ?? Number.POSITIVE_INFINITY) - (b.rail ?? Number.POSITIVE_INFINITY) || compareNames(a.name, b.name),
    )
}

/** Assigns columns to ports. `answerOf` returns the answer with a query; steps of answers may differ. */
export function portRows(
  ports: readonly DeviceInfo[],
  names: readonly PortColumn[],
  answerOf: (query: MetricQuery) => QueryColumns,
): PortRow[] {
  const labels = labelsOf(ports)
  const found = new Map(ports.map(({ id }) => [id, {} as Partial<Record<PortColumn, Float64Array>>]))
  for (const name of names) {
    const query = PORT_QUERIES[name]
    const answer = answerOf(query)
    const { grid } = answer
    if (!grid) continue
    for (const [id, column] of dealtOut(ports, query, answer)) found.get(id)![name] = grid.slice(column)
  }
  return ports.map((device, order) => ({ device, label: labels[order]!, columns: found.get(device.id)! }))
}

function labelsOf(ports: readonly DeviceInfo[]): string[] {
  const titles = ports.map(deviceTitle)
  return titles.map((title, order) => {
    if (titles.indexOf(title) === titles.lastIndexOf(title)) return title
    const { name, labels } = ports[order]!
    return `${title} ${name}${labels.port ? `/${labels.port}` : ''}`
  })
}

/** Groups of comparable ports: ports in rails, and other ports by line rate. The largest group comes first. */
export function siblingGroups(rows: readonly PortRow[]): readonly (readonly PortRow[])[] {
  const groups = Map.groupBy(rows, ({ device, columns }) =>
    device.rail === null ? newestValue(columns.lineRate, Number.POSITIVE_INFINITY) : 'rails',
  )
  return [...groups.values()].sort((a, b) => b.length - a.length)
}
