import type { DeviceOfPod } from '@sonde/sdk/api'
import { Link } from 'wouter'
import { useDevices } from '../../api/devices.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { AffectedMark } from '../../devices/affected-mark.tsx'
import { devicePath, deviceTitle } from '../../devices/device.ts'
import { hintState, worstByDevice } from '../../devices/hint-words.ts'
import { podPath } from '../../devices/pod-path.ts'
import { usePageState } from '../../state/time-window.ts'
import { useAffected } from '../use-affected.ts'
import { useMoment } from '../use-moment.ts'
import { useMomentHints } from '../use-moment-hints.ts'

/** The GPUs and MIG instances of a pod, each with its state and with who else holds it. */
export function PodDevices({
  devices,
  isPresent,
}: {
  readonly devices: readonly DeviceOfPod[]
  /** Whether the pod is there now. */
  readonly isPresent: boolean
}) {
  const page = usePageState()
  const listed = useDevices().data?.devices ?? []
  const moment = useMoment()
  const worst = worstByDevice(useMomentHints(moment).hints)
  const affected = useAffected(moment.window)
  const known = (uuid: string) => listed.find(({ kind, labels }) => kind === 'gpu' && labels.UUID === uuid)
  const columns: readonly TableColumn<DeviceOfPod>[] = [
    {
      key: 'gpu',
      head: 'GPU',
      kind: 'rowHead',
      title: ({ uuid }) => uuid,
      cell: ({ uuid }) => {
        const device = known(uuid)
        return device ? <Link href={page.hrefTo(devicePath(device))}>{deviceTitle(device)}</Link> : uuid
      },
    },
    {
      key: 'state',
      head: 'State',
      look: 'is-row',
      cell: ({ uuid }) => {
        const device = known(uuid)
        const hint = device && worst.get(device.id)
        if (!device) return <StateMark tone="absent" word="not read here" />
        const state = hint
          ? { tone: hintState(hint).tone, word: hint.title }
          : ({ tone: 'ok', word: 'no hint' } as const)
        return (
          <>
            <StateMark {...state} /> <AffectedMark by={affected.get(device.id)} />
          </>
        )
      },
    },
    {
      key: 'instance',
      head: 'MIG instance',
      label: 'MIG instance',
      look: ({ instance }) => (instance === '' ? 'is-empty' : ''),
      cell: ({ instance }) => instance || '–',
    },
    { key: 'node', head: 'Node', label: 'Node', cell: ({ host }) => host || '–' },
    {
      key: 'containers',
      head: 'Container',
      label: 'Container',
      cell: ({ containers }) => containers.join(', ') || '–',
    },
    {
      key: 'shared',
      head: 'Also held by',
      label: 'Also held by',
      look: ({ sharedWith }) => (sharedWith.length === 0 ? 'is-empty' : 'is-row'),
      cell: ({ sharedWith }) => (sharedWith.length === 0 ? 'no other pod' : <Others pods={sharedWith} />),
    },
    {
      key: 'via',
      head: 'Known by',
      label: 'Known by',
      look: 'is-row',
      title: ({ doubt }) => doubt || undefined,
      cell: knownWords,
    },
  ]
  if (devices.length === 0) return null
  return (
    <Panel id="pod-devices" title="GPUs" isPresent={isPresent} className="apps-panel">
      <DataTable
        label="Table of GPUs"
        look="is-stacked"
        columns={columns}
        rows={devices}
        keyOf={({ host, uuid, instance }) => `${host} ${uuid} ${instance}`}
      />
    </Panel>
  )
}

function knownWords({ via, confidence }: DeviceOfPod): string {
  return confidence === null ? '–' : `${confidence}: ${via}`
}

/** Most pods named in a cell. */
const NAMED_COUNT = 4

function Others({ pods }: { readonly pods: DeviceOfPod['sharedWith'] }) {
  const page = usePageState()
  return (
    <span className="app-pods">
      {pods.slice(0, NAMED_COUNT).map((pod) => (
        <Link key={`${pod.namespace}/${pod.name}`} href={page.hrefTo(podPath(pod))} title={pod.name}>
          {pod.name}
        </Link>
      ))}
      {pods.length > NAMED_COUNT && <span>{pods.length - NAMED_COUNT} more</span>}
    </span>
  )
}
