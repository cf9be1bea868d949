import type { Hint } from '@sonde/sdk/api'
import { type ReactNode, useMemo } from 'react'
import type { DeviceInfo } from '../../api/devices.ts'
import type { KnownColumns } from '../../api/use-known-columns.ts'
import { niceTop } from '../../chart/scale.ts'
import { DeviceRow, RailGrid, type RailLink, type RowLabel } from '../../components/rail-grid.tsx'
import { isSick, LONG_COUNT, SICKEST_FIRST, sicknessKey } from '../../components/sickness.ts'
import { sortRows } from '../../components/sort.ts'
import { awaitedTile, Tile, type TileWords } from '../../components/tile.tsx'
import { useIdleFold } from '../../components/use-idle-fold.ts'
import { useFirstPosition } from '../../components/use-span.ts'
import { type AffectedDevices, orderTone } from '../../devices/affected.ts'
import { AffectedMark } from '../../devices/affected-mark.tsx'
import { devicePath, deviceTitle, linkPath } from '../../devices/device.ts'
import { type DeviceColumns, isIdleDevice } from '../../devices/device-columns.ts'
import { lastValue, meanWords, type ReadSpan } from '../../devices/device-reading.ts'
import type { Fired } from '../../devices/fired.ts'
import { worstByDevice } from '../../devices/hint-words.ts'
import { largestOfLast } from '../../devices/interface-data.ts'
import type { MomentHints } from '../../devices/moment-hints.ts'
import { isDowntrained, linkReading, linkUseWords, linkWords } from '../../devices/pcie.ts'
import { RAILS_A_BLOCK_COUNT, type Rail, railLayout } from '../../devices/rails.ts'
import { gpuTile, nicTile } from '../../devices/tile-words.ts'
import { formatQuantity } from '../../format/number.ts'
import { BITS_PER_SECOND, WATTS } from '../../format/quantity.ts'
import { usePageState } from '../../state/time-window.ts'

/** Fewest columns, so that tiles of one or two devices do not fill the page. */
const COLUMNS_MIN_COUNT = 4

interface TopologyProps {
  readonly devices: readonly DeviceInfo[]
  readonly seen: MomentHints
  readonly affected: AffectedDevices
  readonly columns: ReadonlyMap<string, DeviceColumns>
  readonly answer: KnownColumns
  /** The span that numbers are read from. */
  readonly span: ReadSpan
  /** Totals over all GPUs and NICs; NaN if unknown. */
  readonly totals: { readonly power: number; readonly sent: number }
}

/** The map of GPUs, links and NICs. */
export function Topology({ devices, seen, affected, columns, answer, span, totals }: TopologyProps) {
  const page = usePageState()
  const layout = useMemo(() => railLayout(devices), [devices])
  const tiles = useTiles(devices, seen, columns, { answer, span })
  const tile = (device: DeviceInfo) => {
    const words = tiles.get(device.id) ?? awaitedTile(deviceTitle(device))
    const by = affected.get(device.id)
    // Words of trouble leave room for an icon.
    const mark = by && <AffectedMark by={by} iconOnly={words.facts.some(({ isTrouble }) => isTrouble)} />
    return <Tile key={device.id} words={words} href={page.hrefTo(devicePath(device))} mark={mark} />
  }
  const labels = rowLabels(devices, columns, totals, span)
  const most = Math.max(...layout.blocks.map(({ rails }) => rails.length), layout.gpus.length, layout.nics.length)
  const columnCount = Math.min(RAILS_A_BLOCK_COUNT, Math.max(COLUMNS_MIN_COUNT, most))
  const plain = { tiles, affected, columns, columnCount, tile }
  return (
    <section className="topology" aria-label="GPUs and NICs">
      {layout.blocks.map(({ rails, spans }) => (
        <RailGrid
          key={rails[0]?.number}
          rails={rails.map((rail) => ({
            number: rail.number,
            gpu: tile(rail.gpu),
            nic: rail.nics.map(tile),
            link: railLink(rail, rails, columns, { span, hrefTo: page.hrefTo }),
          }))}
          spans={spans}
          labels={labels}
          columnCount={columnCount}
        />
      ))}
      {layout.gpus.length > 0 && <PlainRow {...plain} devices={layout.gpus} noun="GPU" label={labels.gpu} />}
      {layout.nics.length > 0 && (
        <PlainRow
          {...plain}
          devices={layout.nics}
          noun="NIC"
          label={layout.blocks.length > 0 ? OTHER_NICS : labels.nic}
        />
      )}
    </section>
  )
}

interface PlainRowProps {
  readonly devices: readonly DeviceInfo[]
  readonly noun: string
  readonly label: RowLabel
  readonly tiles: ReadonlyMap<string, TileWords>
  readonly affected: AffectedDevices
  readonly columns: ReadonlyMap<string, DeviceColumns>
  readonly columnCount: number
  readonly tile: (device: DeviceInfo) => ReactNode
}

/** Devices that stand in no rail. If they are many, the sickest come first, and idle devices are folded. */
function PlainRow({ devices, noun, label, tiles, affected, columns, columnCount, tile }: PlainRowProps) {
  const toneOf = ({ id }: DeviceInfo) => orderTone(tiles.get(id)?.tone ?? 'ok', affected.get(id))
  const isLong = devices.length > LONG_COUNT
  const sorted = isLong ? sortRows(devices, SICKEST_FIRST.direction, (device) => sicknessKey(toneOf(device))) : devices
  const isIdle = (device: DeviceInfo) => !isSick(toneOf(device)) && isIdleDevice(columns.get(device.id) ?? {})
  const { rows, fold } = useIdleFold(sorted, isIdle, [noun, `${noun}s`])
  const cells = rows.map((device) => ({ key: device.id, cell: tile(device) }))
  return <DeviceRow label={label} cells={cells} columnCount={columnCount} fold={fold} />
}

const OTHER_NICS: RowLabel = { title: 'Other NICs', notes: ['in no rail'], head: 'Other NICs · sent' }

function rowLabels(
  devices: readonly DeviceInfo[],
  columns: TopologyProps['columns'],
  { power, sent }: TopologyProps['totals'],
  span: ReadSpan,
) {
  const rates = devices
    .filter(({ kind, rail }) => kind === 'nic' && rail !== null)
    .map(({ id }) => lastValue(columns.get(id)?.lineRate, span))
    .filter((rate) => rate > 0)
  const rate = new Set(rates).size === 1 ? formatQuantity(BITS_PER_SECOND, rates[0]!) : ''
  // A tile shows power if its GPU does not report SM activity.
  const gpus = devices.filter(({ kind }) => kind === 'gpu')
  const isPower = columns.size > 0 && gpus.length > 0 && gpus.every(({ id }) => columns.get(id)?.sm === undefined)
  const gpuShows = isPower ? 'power' : 'SM active'
  return {
    gpu: {
      title: 'GPU',
      notes: [gpuShows, meanWords(span), Number.isNaN(power) ? '' : `${formatQuantity(WATTS, power)} in all`].filter(
        Boolean,
      ),
      head: `GPU · ${gpuShows}`,
    },
    link: 'PCIe, in use',
    nic: {
      title: 'NIC',
      notes: [
        rate ? `sent, of ${rate}` : 'sent',
        meanWords(span),
        Number.isNaN(sent) ? '' : `${formatQuantity(BITS_PER_SECOND, sent)} in all`,
      ].filter(Boolean),
      head: 'NIC · sent',
    },
  }
}

function useTiles(
  devices: readonly DeviceInfo[],
  { hints, isKnown }: MomentHints,
  columns: ReadonlyMap<string, DeviceColumns>,
  { answer, span }: Pick<TopologyProps, 'answer' | 'span'>,
): ReadonlyMap<string, TileWords> {
  const { url } = usePageState()
  const sparkFrom = useFirstPosition(answer)
  const zone = url.tz ?? 'utc'
  return useMemo(() => {
    if (!answer.isReady) return new Map()
    const worst = worstByDevice(hints)
    const sentTop = topOfSent(columns)
    return new Map(
      devices.map((device) => {
        const hint = worst.get(device.id)
        const fired = hint && firedOf(hint, answer)
        const context = { hint, isJudged: isKnown, fired, ...span, zone, sparkFrom, sentTop }
        const own = columns.get(device.id) ?? {}
        return [device.id, device.kind === 'gpu' ? gpuTile(device, own, context) : nicTile(device, own, context)]
      }),
    )
  }, [devices, hints, isKnown, columns, answer, span, zone, sparkFrom])
}

/** The first signal of a hint that has samples. */
function firedOf({ evidence }: Hint, answer: KnownColumns): Fired | undefined {
  for (const query of evidence) {
    const column = answer.columns(query)[0]
    if (column && answer.grid) return { metric: query.metric, values: answer.grid.slice(column) }
  }
  return undefined
}

/** Scale of all NICs: the fastest link, or the greatest sent rate. */
function topOfSent(columns: ReadonlyMap<string, DeviceColumns>): number {
  let largest = 0
  for (const { sent, interfaceSent, lineRate } of columns.values()) {
    for (const values of [sent ?? interfaceSent, lineRate]) {
      if (values) largest = Math.max(largest, largestOfLast(values, values.length) || 0)
    }
  }
  return niceTop(largest, 1e9 / 8)
}

function railLink(
  { gpu, nics, switch: port }: Rail,
  rails: readonly Rail[],
  columns: ReadonlyMap<string, DeviceColumns>,
  { span, hrefTo }: { readonly span: ReadSpan; readonly hrefTo: (path: string) => string },
): RailLink {
  const ends = [gpu, ...nics].map((device) => ({
    device,
    link: linkReading(columns.get(device.id) ?? {}, device, span),
  }))
  // Shows the end that lost speed or lanes. Otherwise shows the GPU while it is present, because its counters report
  // the use of the link.
  const { device, link } =
    ends.find(({ link }) => isDowntrained(link)) ?? ends.find(({ link }) => linkWords(link) !== '') ?? ends[0]!
  const isTrouble = isDowntrained(link)
  const words = isTrouble ? linkWords(link) : [linkWords(link), linkUseWords(link)].filter(Boolean).join(' · ')
  const path = linkPath(device)
  const others = rails.filter((rail) => port !== undefined && rail.switch === port)
  const shares =
    port === undefined
      ? ''
      : `switch ${port}: ${others.flatMap((rail) => [rail.gpu, ...rail.nics].map(deviceTitle)).join(', ')}`
  return { words, isTrouble, shares, href: path && hrefTo(path) }
}
