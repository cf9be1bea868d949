import { memo, type ReactNode, useRef } from 'react'
import { Link } from 'wouter'
import type { KnownColumns } from '../../api/use-known-columns.ts'
import { largestOf, niceTop } from '../../chart/scale.ts'
import { Empty } from '../../components/empty.tsx'
import { FilterInput } from '../../components/filter-input.tsx'
import { SimulatedMark } from '../../components/simulated-mark.tsx'
import { parseSort, type Sort, type SortKey, sortRows } from '../../components/sort.ts'
import { SortHead } from '../../components/sort-head.tsx'
import { Sparkline } from '../../components/sparkline.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import { TableBox } from '../../components/table-box.tsx'
import { useFirstPosition, useSpan } from '../../components/use-span.ts'
import { useUnit } from '../../components/use-unit.ts'
import { devicePath } from '../../devices/device.ts'
import type { MomentHints } from '../../devices/moment-hints.ts'
import { meanReading, meansWords, type Reading, type ReadSpan } from '../../devices/reading.ts'
import { largestOfReading, ReadingWords } from '../../devices/reading-words.tsx'
import { countOf, type DisplayUnit, groupThousands, pickUnit } from '../../format/number.ts'
import { BITS_PER_SECOND } from '../../format/quantity.ts'
import { formatDuration } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'
import { oddSignals } from './odd-ports.ts'
import { columnsWithValues, linkDownCount, type PortTableColumn } from './port-columns.ts'
import { type PortRow, siblingGroups } from './port-data.ts'
import type { PortSignal } from './port-signals.ts'
import { busWords, isBusWorse, lineWords, type PortState, portState } from './port-state.ts'

const BY_PLACE: Sort = { column: 'port', direction: 'ascending' }
const NO_SIGNALS: ReadonlySet<PortSignal> = new Set()
/** Rows beyond these are reached with the filter. */
const ROW_LIMIT_COUNT = 200

interface Row extends PortRow {
  readonly state: PortState
  readonly odd: ReadonlySet<PortSignal>
  readonly keys: Readonly<Record<string, SortKey>>
  /** Numbers by the names of their columns. */
  readonly readings: Readonly<Record<string, Reading>>
  readonly isBusWorse: boolean
}

interface TableProps {
  readonly ports: readonly PortRow[]
  readonly seen: MomentHints
  /** What the sparklines and the counts of the window are of. */
  readonly answer: KnownColumns
  /** What numbers are read from. */
  readonly span: ReadSpan
}

/** One row a port, all signals side by side; what stands out from its siblings is lit. */
export const PortTable = memo(function PortTable({ ports, seen, answer, span }: TableProps) {
  const page = usePageState()
  const { fromMs, toMs } = useSpan(answer)
  const sparkFrom = useFirstPosition(answer)
  const sort = parseSort(page.url.sort, BY_PLACE)
  const filter = (page.url.q ?? '').toLowerCase()
  const columns = columnsWithValues(ports)
  const matching = rowsOf(ports, seen, columns, span).filter((row) => wordsOf(row).includes(filter))
  const rows = sortRows(
    matching,
    sort.direction,
    ({ keys }) => (Object.hasOwn(keys, sort.column) ? keys[sort.column]! : ''),
    ({ state }) => state.rank,
  )
  return (
    <section className="panel" aria-labelledby="port-table">
      <header className="panel-head has-line is-centred">
        <h2 id="port-table" className="panel-title">
          Ports
        </h2>
        <span className="panel-caption">{meansWords(span)}; lit is what stands out from its siblings</span>
        <FilterInput label="Filter ports" />
      </header>
      {rows.length === 0 ? (
        <Empty fact={`Nothing matches "${page.url.q}".`}>{countOf(ports.length, 'port')} searched.</Empty>
      ) : (
        <Rows
          rows={rows.slice(0, ROW_LIMIT_COUNT)}
          columns={columns}
          sort={sort}
          spanWords={formatDuration(toMs - fromMs)}
          sparkFrom={sparkFrom}
        />
      )}
      {rows.length > ROW_LIMIT_COUNT && (
        <p className="panel-note">
          The first {ROW_LIMIT_COUNT} of {countOf(rows.length, 'port')}. Filter for the others.
        </p>
      )}
    </section>
  )
})

interface RowsProps {
  readonly rows: readonly Row[]
  readonly columns: readonly PortTableColumn[]
  readonly sort: Sort
  readonly spanWords: string
  readonly sparkFrom: number
}

function Rows({ rows, columns, sort, spanWords, sparkFrom }: RowsProps) {
  const largest = (...keys: string[]): number =>
    Math.max(0, ...rows.flatMap((row) => keys.map((key) => largestOfReading(row.readings[key]!))))
  const bits = useUnit(BITS_PER_SECOND, largest('sent', 'received'))
  const units = useUnits(columns.map((column) => ({ column, largest: largest(column.key) })))
  const sent = rows.flatMap((row) => row.columns.sent ?? [])
  const isMixed = new Set(rows.map(({ device }) => device.simulated)).size > 1
  const top = niceTop(largestOf(sent, 0, (sent[0]?.length ?? 0) - 1), bits.divisor)
  return (
    <TableBox label="Table of ports">
      <table className="table is-dense has-first-fixed">
        <thead>
          <tr>
            <SortHead column="port" sort={sort} kind="text">
              Port
            </SortHead>
            <SortHead column="state" sort={sort} kind="text">
              State
            </SortHead>
            <NumberHead column="sent" text="Sent" unit={bits.label} sort={sort} />
            <th scope="col" className="is-spark">
              <span className="visually-hidden">sent, last </span>
              {spanWords}
            </th>
            <NumberHead column="received" text="Received" unit={bits.label} sort={sort} />
            {columns.map(({ key, head, title }) => (
              <NumberHead key={key} column={key} text={head} title={title} unit={units.get(key)!.label} sort={sort} />
            ))}
            <NumberHead column="link_downs" text="Link downs" unit={spanWords} sort={sort} />
            <SortHead column="bus" sort={sort} kind="text">
              PCIe
            </SortHead>
            <SortHead column="link" sort={sort} kind="text">
              Link
            </SortHead>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <PortTableRow
              key={row.device.id}
              row={row}
              columns={columns}
              bits={bits}
              units={units}
              top={top}
              sparkFrom={sparkFrom}
              isMixed={isMixed}
            />
          ))}
        </tbody>
      </table>
    </TableBox>
  )
}

function PortTableRow({
  row,
  columns,
  bits,
  units,
  top,
  sparkFrom,
  isMixed,
}: {
  readonly row: Row
  readonly columns: readonly PortTableColumn[]
  readonly bits: DisplayUnit
  readonly units: ReadonlyMap<string, DisplayUnit>
  readonly top: number
  readonly sparkFrom: number
  /** Whether real ports and simulated ones stand in the table. */
  readonly isMixed: boolean
}) {
  const page = usePageState()
  const { device, label, state, odd, keys, readings } = row
  const { sent } = row.columns
  return (
    <tr>
      <th scope="row">
        <Link href={page.hrefTo(devicePath(device))}>{label}</Link> <span className="unit">{portName(row)}</span>
        {isMixed && <SimulatedMark of={device} />}
      </th>
      <td>
        <StateMark tone={state.tone} word={state.word} />
      </td>
      <NumberCell words={<ReadingWords unit={bits} reading={readings.sent!} />} isOdd={odd.has('sent')} />
      <td className="is-spark">
        {sent ? (
          <Sparkline
            values={sent}
            top={top}
            from={sparkFrom}
            to={sent.length - 1}
            tone={odd.has('sent') ? 'lit' : 'herd'}
          />
        ) : (
          '–'
        )}
      </td>
      <NumberCell words={<ReadingWords unit={bits} reading={readings.received!} />} isOdd={odd.has('received')} />
      {columns.map(({ key, signals }) => (
        <NumberCell
          key={key}
          words={<ReadingWords unit={units.get(key)!} reading={readings[key]!} />}
          isOdd={signals.some((signal) => odd.has(signal))}
        />
      ))}
      <NumberCell
        words={Number.isNaN(keys.link_downs) ? '–' : groupThousands(String(keys.link_downs))}
        isOdd={Number(keys.link_downs) > 0}
      />
      <td className={row.isBusWorse ? 'is-two-lined' : undefined}>
        {row.isBusWorse ? <StateMark tone="warning" word={String(keys.bus)} /> : keys.bus || '–'}
      </td>
      <td>{keys.link || '–'}</td>
    </tr>
  )
}

function NumberHead({
  column,
  text,
  title,
  unit,
  sort,
}: {
  readonly column: string
  readonly text: string
  readonly title?: string | undefined
  readonly unit: string
  readonly sort: Sort
}) {
  return (
    <SortHead column={column} sort={sort}>
      <span className="head-words" title={title}>
        {text} <span className="unit">{unit}</span>
      </span>
    </SortHead>
  )
}

function NumberCell({ words, isOdd }: { readonly words: ReactNode; readonly isOdd: boolean }) {
  return (
    <td className={isOdd ? 'is-number num is-odd' : 'is-number num'}>
      {words}
      {isOdd && <span className="visually-hidden">, unlike its siblings</span>}
    </td>
  )
}

/** One unit a column, kept as {@link useUnit} keeps it. */
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
  seen: MomentHints,
  columns: readonly PortTableColumn[],
  span: ReadSpan,
): readonly Row[] {
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
      readings,
      isBusWorse: isBusWorse(port, span),
      keys: {
        port: place,
        state: state.word,
        ...Object.fromEntries(Object.entries(readings).map(([key, { value }]) => [key, value])),
        link_downs: linkDownCount(port),
        bus: busWords(port, span),
        link: lineWords(port, span),
      },
    }
  })
}

/** What a filter looks at. */
function wordsOf(row: Row): string {
  const { name, address = '', series = {} } = row.device
  const names = Object.values(series).map(({ device = '' }) => device)
  return [row.label, name, address, row.state.word, ...names].join(' ').toLowerCase()
}

/** `mlx5_3/1`: what the driver calls it. */
function portName({ device, label }: PortRow): string {
  const { device: name = device.name, port } = device.labels
  if (!label.includes(name)) return port ? `${name}/${port}` : name
  return port && !label.endsWith(`/${port}`) ? `port ${port}` : ''
}
