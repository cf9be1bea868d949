import type { LatestSeries } from '@sonde/sdk/api'
import { Link } from 'wouter'
import type { DeviceInfo } from '../../api/devices.ts'
import { useSeriesOfTypes } from '../../api/resources.ts'
import { PresentCaption } from '../../components/present-caption.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import { TableBox } from '../../components/table-box.tsx'
import { devicePath, deviceTitle, isSeriesOf } from '../../devices/device.ts'
import { generationOf, isDowntrained, type LinkReading, linkName } from '../../devices/pcie.ts'
import { ABSENT, groupThousands } from '../../format/number.ts'
import { asSentence } from '../../format/words.ts'
import { usePageState } from '../../state/time-window.ts'
import { type LinkEnd, ownersOf, type PathLink } from './pci-path.ts'

const TYPES: readonly string[] = ['pci_device', 'pci_aer', 'nvml_profile']
const LOADS = ['DCGM_FI_PROF_PCIE_TX_BYTES', 'DCGM_FI_PROF_PCIE_RX_BYTES']
const LATEST_EVERY_MS = 5_000
const ERRORS = [
  ['Correctable', 'pci_device_aer_correctable_total'],
  ['Non-fatal', 'pci_device_aer_nonfatal_total'],
  ['Fatal', 'pci_device_aer_fatal_total'],
] as const

/** Every link from the root to the device: how both of its ends run, and what errors each has counted. */
export function PathTable({
  links,
  devices,
}: {
  readonly links: readonly PathLink[]
  readonly devices: readonly DeviceInfo[]
}) {
  const { data } = useSeriesOfTypes(TYPES, LATEST_EVERY_MS)
  return (
    <section className="panel" aria-labelledby="path-table">
      <header className="panel-head has-line">
        <h2 id="path-table" className="panel-title">
          Path
        </h2>
        <PresentCaption>from the root; both ends of each link, as last read</PresentCaption>
      </header>
      <TableBox label="Table of the path">
        <table className="table has-first-fixed">
          <thead>
            <tr>
              <th scope="col">End</th>
              <th scope="col">Address</th>
              <th scope="col">Link</th>
              <th scope="col">At best</th>
              {ERRORS.map(([title]) => (
                <th key={title} scope="col" className="is-number">
                  {title}
                </th>
              ))}
              <th scope="col" className="is-wide">
                Errors by name
              </th>
            </tr>
          </thead>
          {links.map(({ upper, lower }, place) => (
            <tbody key={upper.address}>
              <tr className="table-group">
                <th scope="rowgroup" colSpan={8}>
                  {links.length > 1 ? `Link ${place + 1} of ${links.length}` : 'Link'}
                </th>
              </tr>
              {[upper, ...(lower ? [lower] : [])].map((end) => (
                <EndRow key={end.address} end={end} below={lower ?? upper} devices={devices} series={data?.series} />
              ))}
            </tbody>
          ))}
        </table>
      </TableBox>
    </section>
  )
}

interface EndProps {
  readonly end: LinkEnd
  /** The end of the link that is farther from the root: what hangs there decides how fast it runs. */
  readonly below: LinkEnd
  readonly devices: readonly DeviceInfo[]
  /** Undefined before the server has said. */
  readonly series: readonly LatestSeries[] | undefined
}

function EndRow({ end: { address, role, device }, below, devices, series }: EndProps) {
  const page = usePageState()
  const own = device ? (series?.filter(({ metric, labels }) => isSeriesOf(device, metric, labels)) ?? []) : []
  const owners = device ? ownersOf(device, devices) : []
  const name = owners.map(deviceTitle).join(', ') || role
  const absent = own.find(({ value, absent }) => value === null && absent)?.absent
  if (!device || own.length === 0) {
    return (
      <tr>
        <th scope="row">{name}</th>
        <td className="mono">{address}</td>
        <td colSpan={6} className="is-quiet">
          {(series || !device) && `Absent. ${asSentence(absent ?? 'The source pci does not read it.')}`}
        </td>
      </tr>
    )
  }
  const gpu = below.device && ownersOf(below.device, devices).find(({ kind }) => kind === 'gpu')
  const link = linkOf(own, { savesPower: gpu !== undefined, load: loadOf(gpu, series ?? []) })
  return (
    <tr>
      <th scope="row">{name}</th>
      <td className="mono">
        <Link href={page.hrefTo(devicePath(device))}>{address}</Link>
      </td>
      <td>{link.isTrouble ? <StateMark tone="warning" word={link.now} /> : link.now || '–'}</td>
      <td className="is-quiet">{link.best || '–'}</td>
      {ERRORS.map(([title, metric]) => (
        <td key={title} className="is-number num">
          {groupThousands(own.find((one) => one.metric === metric)?.value ?? '–')}
        </td>
      ))}
      <td className="is-quiet is-wrapping">{errorWords(own)}</td>
    </tr>
  )
}

function linkOf(
  series: readonly LatestSeries[],
  use: Pick<LinkReading, 'savesPower' | 'load'>,
): { now: string; best: string; isTrouble: boolean } {
  const read = (name: string): number => {
    const value = series.find(({ metric }) => metric === `pci_device_${name}`)?.value
    return value == null ? Number.NaN : Number(value)
  }
  const reading = {
    generation: generationOf(read('current_link_speed_gigatransfers')),
    generationMax: generationOf(read('max_link_speed_gigatransfers')),
    width: read('current_link_width_lanes'),
    widthMax: read('max_link_width_lanes'),
    bandwidth: Number.NaN,
    ...use,
  }
  return {
    now: linkName(reading.generation, reading.width),
    best: linkName(reading.generationMax, reading.widthMax),
    isTrouble: isDowntrained(reading),
  }
}

/** What a GPU moves in the busier direction; NaN if it does not tell. */
function loadOf(gpu: DeviceInfo | undefined, series: readonly LatestSeries[]): number {
  const loads = series.filter(
    ({ metric, labels, value }) => gpu && value !== null && LOADS.includes(metric) && isSeriesOf(gpu, metric, labels),
  )
  return loads.length > 0 ? Math.max(...loads.map(({ value }) => Number(value))) : Number.NaN
}

/** Errors by their names; `–` if the device counts none of them. */
function errorWords(series: readonly LatestSeries[]): string {
  const isCounted = series.some(({ metric, value }) => metric === ERRORS[0][1] && value !== null)
  const words = series
    .filter(({ metric, value }) => metric === 'pci_aer_errors_total' && value !== null && value !== '0')
    .map(({ labels, value }) => `${labels.error} ${groupThousands(value ?? '')}`)
    .join(', ')
  return words || (isCounted ? 'none counted' : ABSENT)
}
