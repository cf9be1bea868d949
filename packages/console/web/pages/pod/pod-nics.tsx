import type { NicOfPod } from '@sonde/sdk/api'
import { Link } from 'wouter'
import { type DeviceInfo, useDevices } from '../../api/devices.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { devicePath } from '../../devices/device.ts'
import { asSentence } from '../../format/words.ts'
import { usePageState } from '../../state/time-window.ts'

/** The network interfaces of a pod, and whose traffic their counters have. */
export function PodNicTable({
  nics,
  isPresent,
}: {
  readonly nics: readonly NicOfPod[]
  /** Whether the pod is there now. */
  readonly isPresent: boolean
}) {
  const listed = useDevices().data?.devices ?? []
  const columns: readonly TableColumn<NicOfPod>[] = [
    {
      key: 'interface',
      head: 'Interface',
      kind: 'rowHead',
      cell: ({ interface: name, resource, pciAddress }) => name || resource || pciAddress,
    },
    {
      key: 'traffic',
      head: 'RDMA counters',
      label: 'RDMA counters',
      look: 'is-wrapping',
      cell: ({ rdmaLabels, noCounters }) => (rdmaLabels ? 'of this pod alone' : asSentence(noCounters) || '–'),
    },
    {
      key: 'rdma',
      head: 'RDMA device',
      label: 'RDMA device',
      look: ({ rdmaDevice }) => (rdmaDevice === '' ? 'is-empty' : ''),
      cell: ({ rdmaDevice }) => (
        <DeviceLink
          name={rdmaDevice}
          device={listed.find(({ kind, labels }) => kind === 'nic' && labels.rdma_device === rdmaDevice)}
        />
      ),
    },
    { key: 'driver', head: 'Driver', label: 'Driver', cell: ({ driver }) => driver || '–' },
    {
      key: 'pci',
      head: 'PCI address',
      label: 'PCI address',
      look: ({ pciAddress }) => (pciAddress === '' ? 'is-empty' : ''),
      cell: ({ pciAddress }) => pciAddress || '–',
    },
    {
      key: 'adapter',
      head: 'Adapter',
      label: 'Adapter',
      look: ({ physicalFunction }) => (physicalFunction === '' ? 'is-empty' : ''),
      cell: ({ physicalFunction }) => (
        <DeviceLink
          name={physicalFunction}
          device={listed.find(({ kind, address }) => kind !== 'pci' && address !== '' && address === physicalFunction)}
        />
      ),
    },
    {
      key: 'host',
      head: 'On the host',
      label: 'On the host',
      look: ({ hostInterface }) => (hostInterface === '' ? 'is-empty' : ''),
      cell: ({ hostInterface }) => (
        <DeviceLink
          name={hostInterface}
          device={listed.find(
            ({ kind, name, netdevs }) =>
              (kind === 'netdev' && name === hostInterface) || netdevs.includes(hostInterface),
          )}
        />
      ),
    },
  ]
  return (
    <Panel id="pod-nics" title="Network interfaces" isPresent={isPresent} className="apps-panel">
      <DataTable
        label="Table of interfaces"
        look="is-stacked"
        columns={columns}
        rows={nics}
        keyOf={({ interface: name, pciAddress, rdmaDevice }) => `${name} ${pciAddress} ${rdmaDevice}`}
      />
    </Panel>
  )
}

/** The name of a device, as a link if it has a page. */
function DeviceLink({ name, device }: { readonly name: string; readonly device: DeviceInfo | undefined }) {
  const page = usePageState()
  if (name === '') return '–'
  return device === undefined ? name : <Link href={page.hrefTo(devicePath(device))}>{name}</Link>
}
