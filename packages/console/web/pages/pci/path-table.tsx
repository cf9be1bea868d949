import type { LatestSeries } from '@sonde/sdk/api'
import { Link } from 'wouter'
import type { DeviceInfo } from '../../api/devices.ts'
import { useSeriesOfTypes } from '../../api/resources.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { devicePath, deviceTitle, isSeriesOf } from '../../devices/device.ts'
import { isDowntrained, type LinkReading, linkGeneration, linkName } from '../../devices/pcie.ts'
import { ABSENT, groupThousands } from '../../format/number.ts'
import { asSentence } from '../../format/words.ts'
import { usePageState } from '../../state/time-window.ts'
import { ownersOf, type PathEnd, type PathLink } from './pci-path.ts'

const TYPES: readonly string[] = ['pci_device', 'pci_aer', 'nvml_profile']
const LOADS = ['DCGM_FI_PROF_PCIE_TX_BYTES', 'DCGM_FI_PROF_PCIE_RX_BYTES']
const LATEST_EVERY_MS = 5_000
const ERRORS = 'pci_device_aer_messages_total'
const SEVERITIES = [
  ['Correctable', 'correctable'],
  ['Non-fatal', 'nonfatal'],
  ['Fatal', 'fatal'],
] as const

/** Every link from the root to the device, with the speed and the errors of both ends. */
export function PathTable({
  links,
  devices,
}: {
  readonly links: readonly PathLink[]
  readonly devices: readonly DeviceInfo[]
}) {
  const page = usePageState()
  const { data } = useSeriesOfTypes(TYPES, LATEST_EVERY_MS)
  const columns: readonly TableColumn<EndRow>[] = [
    { key: 'end', head: 'End', kind: 'rowHead', cell: ({ name }) => name },
    {
      key: 'address',
      head: 'Address',
      look: 'mono',
      cell: ({ address, device, link }) =>
        device && link ? <Link href={page.hrefTo(devicePath(device))}>{address}</Link> : address,
    },
    {
      key: 'link',
      head: 'Link',
      cell: ({ link }) => (link?.isTrouble ? <StateMark tone="warning" word={link.now} /> : link?.now || '–'),
    },
    { key: 'best', head: 'At best', look: 'is-quiet', cell: ({ link }) => link?.best || '–' },
    ...SEVERITIES.map(
      ([title, severity]): TableColumn<EndRow> => ({
        key: severity,
        head: title,
        kind: 'number',
        cell: ({ own }) => groupThousands(own.find((one) => isOfSeverity(one, severity))?.value ?? '–'),
      }),
    ),
    {
      key: 'errors',
      head: 'Errors by name',
      isWide: true,
      look: 'is-quiet is-wrapping',
      cell: ({ own }) => errorWords(own),
    },
  ]
  return (
    <Panel id="path-table" title="Path" caption="from the root; both ends of each link, as last read" isPresent>
      <DataTable
        label="Table of the path"
        look="has-first-fixed"
        columns={columns}
        groups={links.map(({ upper, lower }, place) => ({
          key: upper.address,
          head: links.length > 1 ? `Link ${place + 1} of ${links.length}` : 'Link',
          rows: [upper, ...(lower ? [lower] : [])].map((end) => endRow(end, lower ?? upper, devices, data?.series)),
        }))}
        keyOf={({ address }) => address}
        spanOf={({ link, absent }) =>
          link ? undefined : { from: 'link', to: 'errors', look: 'is-quiet', words: absent }
        }
      />
    </Panel>
  )
}

/** An end of a link. */
interface EndRow {
  readonly name: string
  readonly address: string
  readonly device: DeviceInfo | undefined
  /** The latest values of the device. */
  readonly own: readonly LatestSeries[]
  /** Speed and width of the link; undefined if the end has no values. */
  readonly link: ReturnType<typeof linkOf> | undefined
  /** Why the end has no values; empty before the first answer. */
  readonly absent: string
}

/**
 * @param below The end of the link farther from the root. Its device decides the speed.
 * @param series Undefined before the first answer.
 */
function endRow(
  { address, role, device }: PathEnd,
  below: PathEnd,
  devices: readonly DeviceInfo[],
  series: readonly LatestSeries[] | undefined,
): EndRow {
  const own = device ? (series?.filter(({ metric, labels }) => isSeriesOf(device, metric, labels)) ?? []) : []
  const name = (device ? ownersOf(device, devices) : []).map(deviceTitle).join(', ') || role
  const reason = own.find(({ value, absent }) => value === null && absent)?.absent
  const isKnown = series !== undefined || !device
  const absent = isKnown ? `Absent. ${asSentence(reason ?? 'The source pci does not read it.')}` : ''
  if (own.length === 0) return { name, address, device, own, link: undefined, absent }
  const gpu = below.device && ownersOf(below.device, devices).find(({ kind }) => kind === 'gpu')
  const link = linkOf(own, { savesPower: gpu !== undefined, load: loadOf(gpu, series ?? []) })
  return { name, address, device, own, link, absent }
}

function linkOf(
  series: readonly LatestSeries[],
  use: Pick<LinkReading, 'savesPower' | 'load'>,
): { now: string; best: string; isTrouble: boolean } {
  const read = (name: string): number => {
    const value = series.find(({ metric }) => metric === name)?.value
    return value == null ? Number.NaN : Number(value)
  }
  const reading = {
    generation: linkGeneration(read('pci_device_current_link_speed_transfers_per_second')),
    generationMax: linkGeneration(read('pci_device_max_link_speed_transfers_per_second')),
    width: read('pci_device_current_link_width_lanes'),
    widthMax: read('pci_device_max_link_width_lanes'),
    bandwidth: Number.NaN,
    ...use,
  }
  return {
    now: linkName(reading.generation, reading.width),
    best: linkName(reading.generationMax, reading.widthMax),
    isTrouble: isDowntrained(reading),
  }
}

/** Traffic of a GPU in the busier direction; NaN if it reports none. */
function loadOf(gpu: DeviceInfo | undefined, series: readonly LatestSeries[]): number {
  const loads = series.filter(
    ({ metric, labels, value }) => gpu && value !== null && LOADS.includes(metric) && isSeriesOf(gpu, metric, labels),
  )
  return loads.length > 0 ? Math.max(...loads.map(({ value }) => Number(value))) : Number.NaN
}

function isOfSeverity({ metric, labels }: LatestSeries, severity: string): boolean {
  return metric === ERRORS && labels.severity === severity
}

/** Errors by name; `–` if the device has no error counters. */
function errorWords(series: readonly LatestSeries[]): string {
  const isCounted = series.some(({ metric, value }) => metric === ERRORS && value !== null)
  const words = series
    .filter(({ metric, value }) => metric === 'pci_aer_errors_total' && value !== null && value !== '0')
    .map(({ labels, value }) => `${labels.error} ${groupThousands(value ?? '')}`)
    .join(', ')
  return words || (isCounted ? 'none counted' : ABSENT)
}
