import { useMemo } from 'react'
import { Link } from 'wouter'
import type { DeviceInfo } from '../../api/devices.ts'
import { PanelBoundary } from '../../components/error-boundary.tsx'
import type { Fact } from '../../components/facts.tsx'
import { devicePath, deviceTitle } from '../../devices/device.ts'
import { linkGeneration, linkName } from '../../devices/pcie.ts'
import { ABSENT, countText, NO_BREAK_SPACE } from '../../format/number.ts'
import { BYTES_PER_SECOND, PERCENT } from '../../format/quantity.ts'
import { usePageState } from '../../state/time-window.ts'
import { DeviceOf } from '../device/device-of.tsx'
import { DevicePage } from '../device/device-page.tsx'
import type { DeviceReadings } from '../device/device-readings.ts'
import { countFact, numberFact } from '../device/facts.ts'
import { PathTable } from './path-table.tsx'
import { pciPanels } from './pci-panels.ts'
import { linksOf, ownersOf, pathSharers } from './pci-path.ts'

const TYPES: readonly string[] = ['pci_device', 'pci_aer']
const SOUGHT = { kind: 'pci', one: 'PCI device', many: 'PCI devices', path: '/fabric', label: 'Fabric' } as const

/** The page of the PCIe link of a device, and its path to the root. */
export function PciPage({ id }: { readonly id: string }) {
  return (
    <DeviceOf id={id} sought={SOUGHT}>
      {(device, devices) => <Pci device={device} devices={devices} />}
    </DeviceOf>
  )
}

function Pci({ device, devices }: { readonly device: DeviceInfo; readonly devices: readonly DeviceInfo[] }) {
  const page = usePageState()
  const { owners, links, sections, sharers } = useMemo(() => {
    const owners = ownersOf(device, devices)
    const links = linksOf(device, devices)
    const ends = links.flatMap(({ upper, lower }) => (lower ? [upper, lower] : [upper]))
    const panels = pciPanels(device, owners[0], ends)
    return { owners, links, sections: [{ id: 'charts', title: '', panels }], sharers: pathSharers(device, devices) }
  }, [device, devices])
  const { model = '', driver = '', numaNode } = device
  return (
    <DevicePage
      device={device}
      parent={owners[0]?.kind === 'gpu' ? { label: 'GPUs', path: '/gpus' } : { label: 'Fabric', path: '/fabric' }}
      subject={owners[0]}
      note={[
        owners.map((owner) => `PCIe of ${deviceTitle(owner)}`).join(', '),
        model,
        numaNode == null ? '' : `NUMA${NO_BREAK_SPACE}${numaNode}`,
        driver,
      ]}
      sections={sections}
      types={TYPES}
      facts={(readings) => pciFacts(device, owners[0], sharers, readings)}
      lead={
        <>
          {[...owners, ...sharers].length > 0 && (
            <p className="page-more">
              {owners.length > 0 && 'The link of '}
              <DeviceLinks devices={owners} hrefTo={page.hrefTo} />
              {sharers.length > 0 && (owners.length > 0 ? ', on one switch with ' : 'On one switch with ')}
              <DeviceLinks devices={sharers} hrefTo={page.hrefTo} />.
            </p>
          )}
          <PanelBoundary>
            <PathTable links={links} devices={devices} />
          </PanelBoundary>
        </>
      }
    />
  )
}

function DeviceLinks({
  devices,
  hrefTo,
}: {
  readonly devices: readonly DeviceInfo[]
  readonly hrefTo: (path: string) => string
}) {
  return devices.map((device, place) => (
    <span key={device.id}>
      {place > 0 && ', '}
      <Link href={hrefTo(devicePath(device))}>{deviceTitle(device)}</Link>
    </span>
  ))
}

const ERRORS = 'pci_device_aer_messages_total'

function pciFacts(
  device: DeviceInfo,
  owner: DeviceInfo | undefined,
  sharers: readonly DeviceInfo[],
  { mean, exact, judge }: DeviceReadings,
): readonly Fact[] {
  const read = (name: string): number => Number(exact(name) ?? Number.NaN)
  const now = linkName(
    linkGeneration(read('pci_device_current_link_speed_transfers_per_second')),
    read('pci_device_current_link_width_lanes'),
  )
  const best = linkName(
    linkGeneration(read('pci_device_max_link_speed_transfers_per_second')),
    read('pci_device_max_link_width_lanes'),
  )
  const bandwidth =
    read('pci_device_current_link_bandwidth_bytes_per_second') || (owner?.limits.pcie_bytes_per_s ?? Number.NaN)
  const load = owner
    ? Math.max(
        ...(owner.kind === 'gpu'
          ? ['DCGM_FI_PROF_PCIE_TX_BYTES', 'DCGM_FI_PROF_PCIE_RX_BYTES'].map(
              (metric) => mean(metric, 'last', owner).value,
            )
          : ['doca_pci_tx_bytes', 'doca_pci_rx_bytes'].map((metric) => mean(metric, 'rate', owner).value)),
      )
    : Number.NaN
  return [
    judge(
      {
        label: 'Link',
        value: now || ABSENT,
        caption: now === '' ? 'not told' : best === '' || best === now ? 'the best it can do' : `of ${best}`,
      },
      'pci_device_current_link_bandwidth_bytes_per_second',
    ),
    numberFact('Carries at most', BYTES_PER_SECOND, bandwidth, 'each way'),
    numberFact('In use', PERCENT, load / bandwidth, 'the busier way'),
    countFact('Correctable errors', exact(ERRORS, { severity: 'correctable' }), 'messages in all'),
    countFact('Non-fatal errors', exact(ERRORS, { severity: 'nonfatal' }), 'messages in all'),
    countFact('Fatal errors', exact(ERRORS, { severity: 'fatal' }), 'messages in all'),
    {
      label: 'Switch',
      value: device.switch ?? 'none',
      caption: sharers.length > 0 ? `shared with ${countText(sharers.length, 'other')}` : '',
      isFixed: true,
    },
  ]
}
