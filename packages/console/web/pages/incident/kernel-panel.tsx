import type { IncidentAnswer } from '@sonde/sdk/api'
import { Link } from 'wouter'
import type { DeviceInfo } from '../../api/devices.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { devicePath, deviceTitle } from '../../devices/device.ts'
import { countText } from '../../format/number.ts'
import { formatClock, zoneName } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'
import type { KernelMessages } from '../kernel-marks.ts'
import { useHrefThen } from './use-href-then.ts'

/** Messages of the kernel that name the hardware of an incident, in the order in which they came. */
export function KernelPanel({
  answer,
  messages,
  devices,
}: {
  readonly answer: IncidentAnswer
  readonly messages: readonly KernelMessages[]
  readonly devices: readonly DeviceInfo[]
}) {
  const hrefThen = useHrefThen(answer)
  const zone = usePageState().url.tz ?? 'utc'
  const columns: readonly TableColumn<KernelMessages>[] = [
    {
      key: 'came',
      head: `Came, ${zoneName(zone, messages[0]?.atMs ?? 0)}`,
      kind: 'number',
      cell: ({ atMs }) => formatClock(atMs, zone),
    },
    { key: 'message', head: 'Message', kind: 'rowHead', isWide: true, cell: ({ words }) => words },
    { key: 'count', head: 'Times', kind: 'number', label: 'times', cell: ({ count }) => String(count) },
    {
      key: 'device',
      head: 'Device',
      cell: ({ address }) => {
        const device = devices.find((one) => !one.simulated && one.address === address)
        return device ? <Link href={hrefThen(devicePath(device))}>{deviceTitle(device)}</Link> : address
      },
    },
  ]
  return (
    <Panel id="kernel" title="The kernel said" caption={countText(messages.length, 'message')}>
      <DataTable
        label="Table of kernel messages"
        look="is-stacked"
        columns={columns}
        rows={messages}
        keyOf={({ atMs, words, address }) => `${atMs} ${words} ${address}`}
      />
    </Panel>
  )
}
