import { memo, type ReactNode, useRef } from 'react'
import { Link } from 'wouter'
import type { KnownColumns } from '../../api/use-known-columns.ts'
import { largestValue, niceTop } from '../../chart/scale.ts'
import { DataTable } from '../../components/data-table.tsx'
import { NothingMatches } from '../../components/nothing-matches.tsx'
import { Panel } from '../../components/panel.tsx'
import { isSick, SICKEST_FIRST, sicknessKey } from '../../components/sickness.ts'
import { SimulatedMark } from '../../components/simulated-mark.tsx'
import { Sparkline } from '../../components/sparkline.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { useChosenRows } from '../../components/use-chosen-rows.ts'
import { useFirstPosition, useSpan } from '../../components/use-span.ts'
import { useUnit } from '../../components/use-unit.ts'
import { type AffectedBy, type AffectedDevices, orderTone } from '../../devices/affected.ts'
import { AffectedMark } from '../../devices/affected-mark.tsx'
import { devicePath } from '../../devices/device.ts'
import { type DeviceReading, meanReading, meansWords, type ReadSpan } from '../../devices/device-reading.ts'
import { isQuiet } from '../../devices/interface-data.ts'
import type { MomentHints } from '../../devices/moment-hints.ts'
import { largestOfReading, ReadingWords } from '../../devices/reading-words.tsx'
import { countText, type DisplayUnit, groupThousands, pickUnit } from '../../format/number.ts'
import { BITS_PER_SECOND } from '../../format/quantity.ts'
import { formatDuration } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'
import { oddSignals } from './odd-ports.ts'
import { columnsWithValues, linkDownCount, type PortTableColumn } from './port-columns.ts'
import { type PortRow, siblingGroups } from './port-data.ts'
import type { PortSignal } from './port-signals.ts'
import { busWords, isBusWorse, lineWords, type PortState, portState } from './port-state.ts'
import { SparkHead } from './spark-head.tsx'

const NO_SIGNALS: ReadonlySet<PortSignal> = new Set()

interface PortTableRow extends PortRow {
  readonly state: PortState
  readonly affectedBy: AffectedBy | undefined
  readonly odd: ReadonlySet<PortSignal>
  /** Numbers by column name. */
  readonly readings: Readonly<Record<string, DeviceReading>>
  /** Position in the order of the ports. */
  readonly place: number
  /** Count in the window; NaN if unknown. */
  readonly linkDowns: number
  readonly bus: string
  readonly isBusWorse: boolean
  readonly link: string
}

interface TableProps {
  readonly ports: readonly PortRow[]
  readonly seen: MomentHints
  readonly affected: AffectedDevices
  /** Samples of the sparklines and of the counts. */
  readonly answer: KnownColumns
  /** The span that numbers are read from. */
  readonly span: ReadSpan
}

/** One row per port with all signals. Outliers among siblings are highlighted. */
export const PortTable = memo(function PortTable({ ports, seen, affected, answer, span }: TableProps) {
  const numbers = columnsWithValues(ports)
  const all = rowsOf(ports, { seen, affected }, numbers, span)
  const columns = usePortColumns(all, numbers, answer)
  const chosen = useChosenRows(all, {
    columns,
    fallback: SICKEST_FIRST,
    wordsOf,
    isIdle,
    noun: ['port', 'ports'],
  })
  return (
    <Panel
      id="port-table"
      title="Ports"
      caption={`${meansWords(span)}; sickest first, lit is what stands out from its siblings`}
      filter="Filter ports"
    >
      {chosen.rows.length === 0 ? (
        <NothingMatches searched={countText(ports.length, 'port')} />
      ) : (
        <DataTable
          label="Table of ports"
          look="is-dense has-first-fixed"
          columns={columns}
          keyOf={({ device }) => device.id}
          isWindowed
          {...chosen}
        />
      )}
    </Panel>
  )
})

/** The columns, each with a unit that fits all rows. */
function usePortColumns(
  rows: readonly PortTableRow[],
  numbers: readonly PortTableColumn[],
  answer: KnownColumns,
): readonly TableColumn<PortTableRow>[] {
  const page = usePageState()
  const { fromMs, toMs } = useSpan(answer)
  const sparkFrom = useFirstPosition(answer)
  const spanWords = formatDuration(toMs - fromMs)
  const largest = (...keys: string[]): number =>
    Math.max(0, ...rows.flatMap((row) => keys.map((key) => largestOfReading(row.readings[key]!))))
  const bits = useUnit(BITS_PER_SECOND, largest('sent', 'received'))
  const units = useUnits(numbers.map((column) => ({ column, largest: largest(column.key) })))
  const sent = rows.flatMap((row) => row.columns.sent ?? [])
  const isMixed = new Set(rows.map(({ device }) => device.simulated)).size > 1
  const top = niceTop(largestValue(sent, 0, (sent[0]?.length ?? 0) - 1), bits.divisor)
  const reading = ({ key, head, title, signals }: ReadingColumn, unit: DisplayUnit): TableColumn<PortTableRow> => ({
    ...numberColumn({ key, head: <NumberHead head={head} title={title} unit={unit.label} /> }, (row) => ({
      words: <ReadingWords unit={unit} reading={row.readings[key]!} />,
      isOdd: signals.some((signal) => row.odd.has(signal)),
    })),
    sortKey: ({ readings }) => readings[key]!.value,
  })
  return [
    {
      key: 'port',
      head: 'Port',
      kind: 'rowHead',
      cell: (row) => (
        <>
          <Link href={page.hrefTo(devicePath(row.device))}>{row.label}</Link>{' '}
          <span className="unit">{portName(row)}</span>
          {isMixed && <SimulatedMark of={row.device} />}
        </>
      ),
      sortKey: ({ place }) => place,
    },
    {
      key: 'state',
      head: 'State',
      cell: ({ state: { tone, word }, affectedBy }) => (
        <>
          <StateMark tone={tone} word={word} /> <AffectedMark by={affectedBy} />
        </>
      ),
      sortKey: ({ state, affectedBy }) => sicknessKey(orderTone(state.tone, affectedBy)),
    },
    reading({ key: 'sent', head: 'Sent', signals: ['sent'] }, bits),
    {
      key: 'spark',
      head: <SparkHead of="sent" spanWords={spanWords} />,
      kind: 'spark',
      cell: ({ columns, odd }) => (
        <Spark values={columns.sent} top={top} from={sparkFrom} tone={odd.has('sent') ? 'lit' : 'herd'} />
      ),
    },
    reading({ key: 'received', head: 'Received', signals: ['received'] }, bits),
    ...numbers.map((column) => reading(column, units.get(column.key)!)),
    {
      ...numberColumn(
        { key: 'link_downs', head: <NumberHead head="Link downs" unit={spanWords} /> },
        ({ linkDowns }: PortTableRow) => ({
          words: Number.isNaN(linkDowns) ? '–' : groupThousands(String(linkDowns)),
          isOdd: linkDowns > 0,
        }),
      ),
      sortKey: ({ linkDowns }) => linkDowns,
    },
    {
      key: 'bus',
      head: 'PCIe',
      look: ({ isBusWorse }) => (isBusWorse ? 'is-two-lined' : ''),
      cell: ({ isBusWorse, bus }) => (isBusWorse ? <StateMark tone="warning" word={bus} /> : bus || '–'),
      sortKey: ({ bus }) => bus,
    },
    { key: 'link', head: 'Link', cell: ({ link }) => link || '–', sortKey: ({ link }) => link },
  ]
}

type ReadingColumn = Pick<PortTableColumn, 'key' | 'head' | 'title' | 'signals'>

/** A column of numbers that highlights outliers. */
function numberColumn(
  { key, head }: Pick<TableColumn<PortTableRow>, 'key' | 'head'>,
  of: (row: PortTableRow) => { readonly words: ReactNode; readonly isOdd: boolean },
): TableColumn<PortTableRow> {
  return {
    key,
    head,
    kind: 'number',
    look: (row) => (of(row).isOdd ? 'is-odd' : ''),
    cell: (row) => {
      const { words, isOdd } = of(row)
      return (
        <>
          {words}
          {isOdd && <span className="visually-hidden">, unlike its siblings</span>}
        </>
      )
    },
  }
}

function NumberHead({
  head,
  title,
  unit,
}: {
  readonly head: string
  readonly title?: string | undefined
  readonly unit: string
}) {
  return (
    <span className="head-words" title={title}>
      {head} <span className="unit">{unit}</span>
    </span>
  )
}

function Spark({
  values,
  top,
  from,
  tone,
}: {
  readonly values: Float64Array | undefined
  readonly top: number
  readonly from: number
  readonly tone: 'lit' | 'herd'
}) {
  return values ? <Sparkline values={values} top={top} from={from} to={values.length - 1} tone={tone} /> : '–'
}

/** One unit per column, kept stable as in {@link useUnit}. */
function useUnits(
  wanted: readonly { readonly column: PortTableColumn; readonly largest: number }[],
): ReadonlyMap<string, DisplayUnit> {
  const units = useRef(new Map<string, DisplayUnit>())
  for (const { column, largest } of wanted) {
    units.current.set(column.key, pickUnit(column.quantity, largest, units.current.get(column.key)))
  }
  return units.current
}

function rowsOf(
  ports: readonly PortRow[],
  { seen, affected }: Pick<TableProps, 'seen' | 'affected'>,
  columns: readonly PortTableColumn[],
  span: ReadSpan,
): readonly PortTableRow[] {
  const odd = oddSignals(siblingGroups(ports), span)
  return ports.map((port, place) => {
    const signals = odd.get(port.device.id) ?? NO_SIGNALS
    const state = portState(port, seen, span)
    const readings = {
      sent: meanReading(port.columns.sent, span),
      received: meanReading(port.columns.received, span),
      ...Object.fromEntries(columns.map(({ key, read }) => [key, read(port, span)])),
    }
    return {
      ...port,
      odd: signals,
      state,
      affectedBy: affected.get(port.device.id),
      readings,
      place,
      linkDowns: linkDownCount(port),
      bus: busWords(port, span),
      isBusWorse: isBusWorse(port, span),
      link: lineWords(port, span),
    }
  })
}

/** Whether nothing is wrong with a port, and it carried nothing in the window. */
function isIdle({ device, state, affectedBy, odd, isBusWorse, columns }: PortTableRow): boolean {
  const isWell = !isSick(orderTone(state.tone, affectedBy)) && device.state !== 'gone' && odd.size === 0 && !isBusWorse
  return isWell && isQuiet([columns.sent, columns.received])
}

/** The text that the filter searches. */
function wordsOf(row: PortTableRow): string {
  const { name, address = '', series = {} } = row.device
  const names = Object.values(series).map(({ device = '' }) => device)
  return [row.label, name, address, row.state.word, ...names].join(' ')
}

/** The name that the driver uses: `mlx5_3/1`. */
function portName({ device, label }: PortRow): string {
  const { device: name = device.name, port } = device.labels
  if (!label.includes(name)) return port ? `${name}/${port}` : name
  return port && !label.endsWith(`/${port}`) ? `port ${port}` : ''
}
