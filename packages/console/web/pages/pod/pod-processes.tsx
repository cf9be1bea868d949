import type { DeviceOfPod, ProcessOfPod } from '@sonde/sdk/api'
import { useDevices } from '../../api/devices.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { deviceTitle } from '../../devices/device.ts'
import { countText, formatQuantity } from '../../format/number.ts'
import { BYTES, PERCENT_WHOLE } from '../../format/quantity.ts'

/** Processes listed at first. */
const SHOWN_COUNT = 50

/** The processes of a pod on GPUs; those with the most memory come first. */
export function PodProcesses({
  processes,
  devices,
  isPresent,
}: {
  readonly processes: readonly ProcessOfPod[]
  readonly devices: readonly DeviceOfPod[]
  /** Whether the pod is there now. */
  readonly isPresent: boolean
}) {
  const listed = useDevices().data?.devices ?? []
  const titleOf = ({ uuid, instance }: ProcessOfPod) => {
    const device = listed.find(({ kind, labels }) => kind === 'gpu' && labels.UUID === uuid)
    const title = device ? deviceTitle(device) : uuid
    return instance === '' ? title : `${title} instance ${instance}`
  }
  const columns: readonly TableColumn<ProcessOfPod>[] = [
    { key: 'pid', head: 'Process', kind: 'rowHead', cell: ({ pid, name }) => (name === '' ? pid : `${name} ${pid}`) },
    {
      key: 'util',
      head: 'Utilisation',
      label: 'Utilisation',
      kind: 'number',
      cell: ({ util }) => formatQuantity(PERCENT_WHOLE, util ?? Number.NaN),
    },
    {
      key: 'memory',
      head: 'GPU memory',
      label: 'GPU memory',
      kind: 'number',
      cell: ({ memoryBytes }) => formatQuantity(BYTES, memoryBytes ?? Number.NaN),
    },
    { key: 'gpu', head: 'GPU', label: 'GPU', cell: titleOf },
    { key: 'container', head: 'Container', label: 'Container', cell: ({ container }) => container || '–' },
  ]
  const isOnMig = devices.some(({ instance }) => instance !== '')
  const more = processes.length - SHOWN_COUNT
  const caption = isOnMig ? 'NVML has no utilisation of processes on MIG' : 'as NVML and the kernel report them'
  return (
    <Panel id="pod-processes" title="Processes" caption={caption} isPresent={isPresent} className="apps-panel">
      <DataTable
        label="Table of processes"
        look="is-stacked"
        columns={columns}
        rows={processes.slice(0, SHOWN_COUNT)}
        keyOf={({ pid, uuid, instance }) => `${pid} ${uuid} ${instance}`}
      />
      {more > 0 && (
        <p className="panel-note">{countText(more, 'further process', 'further processes')} with less memory.</p>
      )}
    </Panel>
  )
}
