import type { IncidentAnswer } from '@sonde/sdk/api'
import { Link } from 'wouter'
import type { DeviceInfo } from '../../api/devices.ts'
import { useMoved } from '../../api/incidents.ts'
import { Outlines } from '../../components/answer-state.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { devicePath, deviceTitle } from '../../devices/device.ts'
import { podPath } from '../../devices/pod-path.ts'
import { placeTitle } from '../incidents/incident-words.ts'
import { changeWords } from './change-words.ts'
import { useMetricTitles } from './metric-titles.ts'
import { usePodsThen } from './pods-then.ts'
import { useHrefThen } from './use-href-then.ts'

/** The device at fault and the affected devices, with what changed on them and the pods that held them then. */
export function AffectedPanel({
  answer,
  devices,
}: {
  readonly answer: IncidentAnswer
  readonly devices: readonly DeviceInfo[]
}) {
  const { incident } = answer
  const hrefThen = useHrefThen(answer)
  const { data: moved, error } = useMoved(incident.id)
  const titleOf = useMetricTitles()
  const then = usePodsThen(incident.startMs, devices)
  const rows = [incident.device, ...incident.affected].map((id) => {
    const device = devices.find((one) => one.id === id)
    const changes = moved?.devices.find((one) => one.device === id)?.signals ?? []
    const pods = then.byDevice.get(id) ?? []
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
          <StateMark tone="affected" word="Affected" />
        ),
    },
    {
      key: 'device',
      head: 'Device',
      cell: ({ id, device }) =>
        device ? <Link href={hrefThen(devicePath(device))}>{deviceTitle(device)}</Link> : placeTitle(id, devices),
    },
    {
      key: 'changes',
      head: 'What changed',
      isWide: true,
      look: 'is-wrapping',
      title: ({ changes }) => changes.map(({ metric }) => metric).join(', ') || undefined,
      cell: ({ changes }) =>
        changes
          .map((signal) => {
            const { title, help } = titleOf(signal.metric)
            return `${title} ${changeWords(signal, help)}`
          })
          .join('; ') || '–',
    },
    ...(hasPods
      ? [
          {
            key: 'pods',
            head: 'Pods then',
            label: 'pods then',
            look: ({ pods }: (typeof rows)[number]) => (pods.length === 0 ? 'is-empty' : ''),
            cell: ({ pods }: (typeof rows)[number]) =>
              pods.map((key, place) => (
                <span key={key}>
                  {place > 0 && ', '}
                  <Link href={hrefThen(podPath(podOf(key)))}>{podOf(key).name}</Link>
                </span>
              )),
          },
        ]
      : []),
  ]
  // What changed makes rows higher, so that rows before the answer would move.
  if (!moved && !error) return <Outlines panels={1} waitsFor="a comparison with the minutes before" />
  return (
    <Panel
      id="affected"
      title="Devices"
      caption={captionOf(incident.affected.length, hasPods || !then.isKnown)}
      className="incident-list"
    >
      <DataTable
        label="Table of devices"
        look="is-stacked"
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        isBoxed
      />
    </Panel>
  )
}

function captionOf(affectedCount: number, hasPods: boolean): string {
  const affected = affectedCount === 0 ? '' : `${affectedCount} affected`
  return [affected, hasPods ? '' : 'no pod is known that held one then'].filter(Boolean).join(' · ')
}

function podOf(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/')
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}
