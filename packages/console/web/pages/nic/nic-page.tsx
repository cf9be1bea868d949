import { useMemo } from 'react'
import { Link } from 'wouter'
import type { DeviceInfo } from '../../api/devices.ts'
import { NO_BREAK_SPACE } from '../../format/number.ts'
import { usePageState } from '../../state/time-window.ts'
import { DeviceOf } from '../device/device-of.tsx'
import { DevicePage } from '../device/device-page.tsx'
import { nicFacts } from './nic-facts.ts'
import { nicSections } from './nic-sections.ts'

const TYPES: readonly string[] = [
  'rdma_port',
  'rdma_port_counters',
  'rdma_hw_first',
  'rdma_hw',
  'rdma_driver',
  'ethtool_port',
  'ethtool_link',
  'ethtool_priority',
  'ethtool_lane',
  'doca_phy',
  'doca_phy_identity',
  'doca_phy_lane',
  'doca_diag_link',
  'doca_adp_retx',
  'doca_adp_retx_timeouts',
  'doca_pci',
  'doca_pci_latency',
  'doca_pcc',
  'doca_pcc_identity',
  'doca_pcc_counter',
  'doca_pcc_value',
  'doca_dpa_process',
  'doca_dpa_thread',
  'doca_diag',
  'doca_diag_port',
  'doca_diag_pci',
  'doca_diag_pci_bytes',
  'doca_diag_pci_use',
]
/** Metrics of facts that no panel draws. */
const TOTALS: readonly string[] = [
  'doca_phy_info',
  'doca_pci_max_payload_bytes',
  'doca_pci_max_read_request_bytes',
  'doca_pcc_info',
  'doca_pcc_enabled',
  'doca_pcc_counters_enabled',
  'doca_pcc_version_major',
  'doca_pcc_version_minor',
]
const SOUGHT = { kind: 'nic', one: 'NIC', many: 'ports', path: '/fabric', label: 'Fabric' } as const

/** The page of a NIC port. */
export function NicPage({ id }: { readonly id: string }) {
  return (
    <DeviceOf id={id} sought={SOUGHT}>
      {(device) => <Nic device={device} />}
    </DeviceOf>
  )
}

function Nic({ device }: { readonly device: DeviceInfo }) {
  const page = usePageState()
  const sections = useMemo(() => nicSections(device), [device])
  const { model = '', address = '', driver = '', numaNode, labels, name, series = {} } = device
  const netdev = series.netdev?.device
  return (
    <DevicePage
      device={device}
      parent={{ label: 'Fabric', path: '/fabric' }}
      note={[
        labels.port ? `${name} port ${labels.port}` : name,
        netdev ?? '',
        model,
        address,
        numaNode == null ? '' : `NUMA${NO_BREAK_SPACE}${numaNode}`,
        driver,
      ]}
      sections={sections}
      totals={TOTALS}
      types={TYPES}
      facts={(readings) => nicFacts(device, readings)}
    >
      {netdev && (
        <p className="page-more">
          <Link href={page.hrefTo(`/fabric/${encodeURIComponent(netdev)}`)}>Interface {netdev}</Link>, with the counters
          of the kernel.
        </p>
      )}
    </DevicePage>
  )
}
