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
import type { InterfaceColumns } from '../../devices/interface-data.ts'
import { type InterfaceFact, type InterfaceState, interfaceState } from '../../devices/interface-facts.ts'
import { lastValue, meansWords, newestReading, type Reading, type ReadSpan } from '../../devices/reading.ts'
import { largestOfReading, ReadingWords } from '../../devices/reading-words.tsx'
import { countOf, type DisplayUnit, formatQuantity, groupThousands } from '../../format/number.ts'
import { BITS_PER_SECOND, PER_SECOND } from '../../format/quantity.ts'
import { formatDuration } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'

/** Rows beyond these are reached with the filter. */
const ROW_LIMIT_COUNT = 200
const BY_NAME: Sort = { column: 'interface', direction: 'ascending' }
const TONE_RANK: Readonly<Partial<Record<InterfaceState['tone'], number>>> = { critical: 0, warning: 1 }
const GONE_RANK = 3

interface Row {
  readonly device: string
  readonly columns: InterfaceColumns
  readonly state: InterfaceState
  readonly keys: Readonly<Record<string, SortKey>>
  /** Numbers by the names of their columns. */
  readonly readings: Readonly<Record<string, Reading>>
}

interface TableProps {
  readonly interfaces: readonly InterfaceColumns[]
  readonly facts: readonly InterfaceFact[]
  /** What the sparklines and the carrier changes are of. */
  readonly answer: KnownColumns
  /** What numbers are read from. */
  readonly span: ReadSpan
}

/** One row an interface: state, speed, rates, and the last minutes or the window of what it carried. */
export function InterfaceTable({ interfaces, facts, answer, span }: TableProps) {
  const page = usePageState()
  const { fromMs, toMs } = useSpan(answer)
  const sparkFrom = useFirstPosition(answer)
  const sort = parseSort(page.url.sort, BY_NAME)
  const filter = page.url.q ?? ''
  const matching = rowsOf(interfaces, facts, span).filter(({ device }) => device.includes(filter))
  const rows = sortRows(
    matching,
    sort.direction,
    ({ keys }) => (Object.hasOwn(keys, sort.column) ? keys[sort.column]! : ''),
    ({ state }) => (state.word === 'Gone' ? GONE_RANK : (TONE_RANK[state.tone] ?? 2)),
  )
  return (
    <section className="panel" aria-labelledby="interface-table">
      <header className="panel-head has-line is-centred">
        <h2 id="interface-table" className="panel-title">
          Interfaces
        </h2>
        <span className="panel-caption">
          {span.isNow ? '' : `${meansWords(span)}; `}those that need attention first
        </span>
        <FilterInput label="Filter interfaces" />
      </header>
      {rows.length === 0 ? (
        <Empty fact={`Nothing matches "${filter}".`}>{countOf(interfaces.length, 'interface')} searched.</Empty>
      ) : (
        <Rows
          rows={rows.slice(0, ROW_LIMIT_COUNT)}
          sort={sort}
          spanWords={formatDuration(toMs - fromMs)}
          sparkFrom={sparkFrom}
        />
      )}
      {rows.length > ROW_LIMIT_COUNT && (
        <p className="panel-note">
          The first {ROW_LIMIT_COUNT} of {countOf(rows.length, 'interface')}. Filter for the others.
        </p>
      )}
    </section>
  )
}

function Rows({
  rows,
  sort,
  spanWords,
  sparkFrom,
}: {
  readonly rows: readonly Row[]
  readonly sort: Sort
  readonly spanWords: string
  readonly sparkFrom: number
}) {
  const page = usePageState()
  const largest = (...columns: string[]): number =>
    Math.max(0, ...rows.flatMap(({ readings }) => columns.map((column) => largestOfReading(readings[column]!))))
  const bits = useUnit(BITS_PER_SECOND, largest('received', 'sent'))
  const packets = useUnit(PER_SECOND, largest('packets_in', 'packets_out'))
  const loss = useUnit(PER_SECOND, largest('errors', 'drops'))
  const isMixed = new Set(rows.map(({ columns: { simulated } }) => simulated)).size > 1
  const traffic = rows.flatMap(({ columns: { columns } }) =>
    [columns.sent, columns.received].filter((c) => c !== undefined),
  )
  const top = niceTop(largestOf(traffic, 0, (traffic[0]?.length ?? 0) - 1), bits.divisor)
  const head = (column: string, text: string, unit: string) => (
    <SortHead column={column} sort={sort}>
      {text} <span className="unit">{unit}</span>
    </SortHead>
  )
  return (
    <TableBox label="Table of interfaces">
      <table className="table has-first-fixed">
        <thead>
          <tr>
            <SortHead column="interface" sort={sort} kind="text">
              Interface
            </SortHead>
            <SortHead column="state" sort={sort} kind="text">
              State
            </SortHead>
            {head('received', 'Received', bits.label)}
            <SparkHead of="received" spanWords={spanWords} />
            {head('sent', 'Sent', bits.label)}
            <SparkHead of="sent" spanWords={spanWords} />
            {head('packets_in', 'Packets in', packets.label)}
            {head('packets_out', 'out', packets.label)}
            {head('errors', 'Errors', loss.label)}
            {head('drops', 'Drops', loss.label)}
            {head('carrier_changes', 'Carrier changes', spanWords)}
            {head('speed', 'Link speed', '')}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ device, columns, state, keys, readings }) => (
            <tr key={device}>
              <th scope="row">
                <Link href={page.hrefTo(`/fabric/${encodeURIComponent(device)}`)}>{device}</Link>{' '}
                {isMixed && <SimulatedMark of={columns} />}
              </th>
              <td>
                <StateMark tone={state.tone} word={state.word} />
              </td>
              <ReadingCell unit={bits} reading={readings.received!} />
              <SparkCell values={columns.columns.received} top={top} from={sparkFrom} />
              <ReadingCell unit={bits} reading={readings.sent!} />
              <SparkCell values={columns.columns.sent} top={top} from={sparkFrom} />
              <ReadingCell unit={packets} reading={readings.packets_in!} />
              <ReadingCell unit={packets} reading={readings.packets_out!} />
              <ReadingCell unit={loss} reading={readings.errors!} troubleAbove={0} />
              <ReadingCell unit={loss} reading={readings.drops!} troubleAbove={0} />
              <td className="is-number num">
                {Number.isNaN(keys.carrier_changes) ? '–' : groupThousands(String(keys.carrier_changes))}
              </td>
              <td className="is-number num">{formatQuantity(BITS_PER_SECOND, Number(keys.speed))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableBox>
  )
}

function SparkHead({ of, spanWords }: { readonly of: string; readonly spanWords: string }) {
  return (
    <th scope="col" className="is-spark">
      <span className="visually-hidden">{of}, last </span>
      {spanWords}
    </th>
  )
}

function SparkCell({
  values,
  top,
  from,
}: {
  readonly values: Float64Array | undefined
  readonly top: number
  readonly from: number
}) {
  return (
    <td className="is-spark">
      {values ? <Sparkline values={values} top={top} from={from} to={values.length - 1} /> : '–'}
    </td>
  )
}

function ReadingCell({
  unit,
  reading,
  troubleAbove = Number.POSITIVE_INFINITY,
}: {
  readonly unit: DisplayUnit
  readonly reading: Reading
  /** What is more than this is trouble. Default: nothing is. */
  readonly troubleAbove?: number
}) {
  return (
    <td className={reading.value > troubleAbove ? 'is-number num is-trouble' : 'is-number num'}>
      <ReadingWords unit={unit} reading={reading} />
    </td>
  )
}

function rowsOf(interfaces: readonly InterfaceColumns[], facts: readonly InterfaceFact[], span: ReadSpan): Row[] {
  const factOf = new Map(facts.map((fact) => [fact.device, fact]))
  return interfaces.map((columns) => {
    const { device, errors, drops } = columns
    const state = interfaceState(factOf.get(device))
    const { received, sent, packetsIn, packetsOut, carrierChanges, speed } = columns.columns
    const readings = {
      received: newestReading(received, span),
      sent: newestReading(sent, span),
      packets_in: newestReading(packetsIn, span),
      packets_out: newestReading(packetsOut, span),
      errors: newestReading(errors, span),
      drops: newestReading(drops, span),
    }
    return {
      device,
      columns,
      state,
      readings,
      keys: {
        interface: device,
        state: state.word,
        ...Object.fromEntries(Object.entries(readings).map(([key, { value }]) => [key, value])),
        carrier_changes: sumOf(carrierChanges),
        speed: lastValue(speed, span),
      },
    }
  })
}

function sumOf(values: Float64Array | undefined): number {
  const known = [...(values ?? [])].filter((value) => !Number.isNaN(value))
  return known.length === 0 ? Number.NaN : known.reduce((sum, value) => sum + value, 0)
}
