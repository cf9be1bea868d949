import type { IncidentAnswer } from '@sonde/sdk/api'
import { Link } from 'wouter'
import type { DeviceInfo } from '../../api/devices.ts'
import { useMoved } from '../../api/incidents.ts'
import { useSeriesOfTypes } from '../../api/resources.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { devicePath, deviceTitle } from '../../devices/device.ts'
import { podPath } from '../../devices/pod-path.ts'
import { titleOf } from '../../format/names.ts'
import { usePageState } from '../../state/time-window.ts'
import { heldGpus } from '../app/held-gpus.ts'
import { changeWords } from './change-words.ts'

const POD_TYPES = ['pod_device', 'pod_gpu'] as const

/** The device at fault and the affected devices, with what changed on them and the pods that hold them. */
export function AffectedPanel({
  answer: { incident },
  devices,
}: {
  readonly answer: IncidentAnswer
  readonly devices: readonly DeviceInfo[]
}) {
  const page = usePageState()
  const moved = useMoved(incident.id).data
  const series = useSeriesOfTypes(POD_TYPES).data?.series ?? []
  const rows = [incident.device, ...incident.affected].map((id) => {
    const device = devices.find((one) => one.id === id)
    const changes = moved?.devices.find((one) => one.device === id)?.signals ?? []
    const pods = device ? [...heldGpus(series, [device]).keys()].sort() : []
    return { id, device, changes, pods }
  })
  const hasPods = rows.some(({ pods }) => pods.length > 0)
  const columns: readonly TableColumn<(typeof rows)[number]>[] = [
    {
      key: 'role',
      head: 'Role',
      cell: ({ id }) =>
        id === incident.device ? (
          <StateMark tone={incident.severity === 'notice' ? 'info' : incident.severity} word="At fault" />
        ) : (
          <StateMark tone="info" word="Affected" />
        ),
    },
    {
      key: 'device',
      head: 'Device',
      cell: ({ id, device }) =>
        device ? <Link href={page.hrefTo(devicePath(device))}>{deviceTitle(device)}</Link> : id,
    },
    {
      key: 'changes',
      head: 'What changed',
      isWide: true,
      look: 'is-wrapping',
      cell: ({ changes }) =>
        changes.map((signal) => `${titleOf(signal.metric)} ${changeWords(signal)}`).join(', ') || '–',
    },
    ...(hasPods
      ? [
          {
            key: 'pods',
            head: 'Pods, now',
            label: 'pods now',
            cell: ({ pods }: (typeof rows)[number]) =>
              pods.map((key, place) => (
                <span key={key}>
                  {place > 0 && ', '}
                  <Link href={page.hrefTo(podPath(podOf(key)))}>{podOf(key).name}</Link>
                </span>
              )),
          },
        ]
      : []),
  ]
  return (
    <Panel id="affected" title="Devices" caption={hasPods ? '' : 'no pod holds one of them now'}>
      <DataTable label="Table of devices" look="is-stacked" columns={columns} rows={rows} keyOf={({ id }) => id} />
    </Panel>
  )
}

function podOf(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/')
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}
