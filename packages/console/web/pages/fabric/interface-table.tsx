import { Link } from 'wouter'
import type { FrameRange } from '../../api/frame.ts'
import { largestOf, niceTop } from '../../chart/scale.ts'
import { Empty } from '../../components/empty.tsx'
import { FilterInput } from '../../components/filter-input.tsx'
import { SimulatedMark } from '../../components/simulated-mark.tsx'
import { parseSort, type Sort, type SortKey, sortRows } from '../../components/sort.ts'
import { SortHead } from '../../components/sort-head.tsx'
import { Sparkline } from '../../components/sparkline.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import { TableBox } from '../../components/table-box.tsx'
import { useUnit } from '../../components/use-unit.ts'
import { type InterfaceColumns, newestValue } from '../../devices/interface-data.ts'
import { type InterfaceFact, type InterfaceState, interfaceState } from '../../devices/interface-facts.ts'
import { countOf, formatIn, formatQuantity, groupThousands } from '../../format/number.ts'
import { BITS_PER_SECOND, PER_SECOND } from '../../format/quantity.ts'
import { formatDuration } from '../../format/time.ts'
import { spanOf, usePageState } from '../../state/time-window.ts'

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
}

interface TableProps {
  readonly interfaces: readonly InterfaceColumns[]
  readonly facts: readonly InterfaceFact[]
  /** What the sparklines and the carrier changes are of. */
  readonly range: FrameRange
}

/** One row an interface: state, speed, rates, and five minutes of what it carried. */
export function InterfaceTable({ interfaces, facts, range }: TableProps) {
  const page = usePageState()
  const sort = parseSort(page.url.sort, BY_NAME)
  const filter = page.url.q ?? ''
  const matching = rowsOf(interfaces, facts).filter(({ device }) => device.includes(filter))
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
        <span className="panel-caption">those that need attention first</span>
        <FilterInput label="Filter interfaces" />
      </header>
      {rows.length === 0 ? (
        <Empty fact={`Nothing matches "${filter}".`}>{countOf(interfaces.length, 'interface')} searched.</Empty>
      ) : (
        <Rows rows={rows.slice(0, ROW_LIMIT_COUNT)} sort={sort} spanWords={formatDuration(spanOf(range))} />
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
}: {
  readonly rows: readonly Row[]
  readonly sort: Sort
  readonly spanWords: string
}) {
  const page = usePageState()
  const largest = (...columns: string[]): number =>
    Math.max(0, ...rows.flatMap(({ keys }) => columns.map((column) => Number(keys[column]) || 0)))
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
          {rows.map(({ device, columns, state, keys }) => (
            <tr key={device}>
              <th scope="row">
                <Link href={page.hrefTo(`/fabric/${encodeURIComponent(device)}`)}>{device}</Link>{' '}
                {isMixed && <SimulatedMark of={columns} />}
              </th>
              <td>
                <StateMark tone={state.tone} word={state.word} />
              </td>
              <td className="is-number num">{formatIn(bits, Number(keys.received))}</td>
              <SparkCell values={columns.columns.received} top={top} />
              <td className="is-number num">{formatIn(bits, Number(keys.sent))}</td>
              <SparkCell values={columns.columns.sent} top={top} />
              <td className="is-number num">{formatIn(packets, Number(keys.packets_in))}</td>
              <td className="is-number num">{formatIn(packets, Number(keys.packets_out))}</td>
              <LossCell text={formatIn(loss, Number(keys.errors))} isTrouble={Number(keys.errors) > 0} />
              <LossCell text={formatIn(loss, Number(keys.drops))} isTrouble={Number(keys.drops) > 0} />
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

function SparkCell({ values, top }: { readonly values: Float64Array | undefined; readonly top: number }) {
  return (
    <td className="is-spark">
      {values ? <Sparkline values={values} top={top} from={0} to={values.length - 1} /> : '–'}
    </td>
  )
}

function LossCell({ text, isTrouble }: { readonly text: string; readonly isTrouble: boolean }) {
  return <td className={isTrouble ? 'is-number num is-trouble' : 'is-number num'}>{text}</td>
}

function rowsOf(interfaces: readonly InterfaceColumns[], facts: readonly InterfaceFact[]): Row[] {
  const factOf = new Map(facts.map((fact) => [fact.device, fact]))
  return interfaces.map((columns) => {
    const { device, errors, drops } = columns
    const state = interfaceState(factOf.get(device))
    const { received, sent, packetsIn, packetsOut, carrierChanges, speed } = columns.columns
    return {
      device,
      columns,
      state,
      keys: {
        interface: device,
        state: state.word,
        received: newestValue(received),
        sent: newestValue(sent),
        packets_in: newestValue(packetsIn),
        packets_out: newestValue(packetsOut),
        errors: newestValue(errors),
        drops: newestValue(drops),
        carrier_changes: sumOf(carrierChanges),
        speed: newestValue(speed),
      },
    }
  })
}

function sumOf(values: Float64Array | undefined): number {
  const known = [...(values ?? [])].filter((value) => !Number.isNaN(value))
  return known.length === 0 ? Number.NaN : known.reduce((sum, value) => sum + value, 0)
}
