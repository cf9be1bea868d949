import { Link } from 'wouter'
import type { KnownColumns } from '../../api/use-known-columns.ts'
import { largestValue, niceTop } from '../../chart/scale.ts'
import { DataTable } from '../../components/data-table.tsx'
import { NothingMatches } from '../../components/nothing-matches.tsx'
import { Panel } from '../../components/panel.tsx'
import { LONG_COUNT, SICKEST_FIRST, sicknessKey } from '../../components/sickness.ts'
import { SimulatedMark } from '../../components/simulated-mark.tsx'
import { Sparkline } from '../../components/sparkline.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { useChosenRows } from '../../components/use-chosen-rows.ts'
import { useFirstPosition, useSpan } from '../../components/use-span.ts'
import { useUnit } from '../../components/use-unit.ts'
import {
  type DeviceReading,
  lastValue,
  meansWords,
  newestReading,
  type ReadSpan,
} from '../../devices/device-reading.ts'
import type { InterfaceColumns } from '../../devices/interface-data.ts'
import {
  type InterfaceFact,
  type InterfaceLoad,
  type InterfaceState,
  interfaceLoad,
  interfaceState,
} from '../../devices/interface-facts.ts'
import { largestOfReading, ReadingWords } from '../../devices/reading-words.tsx'
import { countText, type DisplayUnit, formatQuantity, groupThousands } from '../../format/number.ts'
import { BITS_PER_SECOND, PER_SECOND } from '../../format/quantity.ts'
import { formatDuration } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'
import { SparkHead } from './spark-head.tsx'

interface InterfaceRow extends InterfaceLoad {
  readonly device: string
  readonly columns: InterfaceColumns
  readonly state: InterfaceState
  readonly readings: Readonly<
    Record<'received' | 'sent' | 'packetsIn' | 'packetsOut' | 'errors' | 'drops', DeviceReading>
  >
  /** Count in the window; NaN if unknown. */
  readonly carrierChanges: number
  /** Unit: bits per second. */
  readonly speed: number
}

interface TableProps {
  readonly interfaces: readonly InterfaceColumns[]
  readonly facts: readonly InterfaceFact[]
  /** Samples of the sparklines and carrier changes. */
  readonly answer: KnownColumns
  /** The span that numbers are read from. */
  readonly span: ReadSpan
}

/** One row per interface: state, speed, rates, and sparklines of its traffic. */
export function InterfaceTable({ interfaces, facts, answer, span }: TableProps) {
  const all = rowsOf(interfaces, facts, span)
  const columns = useInterfaceColumns(all, answer)
  const chosen = useChosenRows(all, {
    columns,
    fallback: SICKEST_FIRST,
    wordsOf: ({ device }) => device,
    isIdle: (row) => row.isIdle,
    noun: ['interface', 'interfaces'],
  })
  return (
    <Panel
      id="interface-table"
      title="Interfaces"
      caption={[
        ...(span.isNow ? [] : [meansWords(span)]),
        all.length > LONG_COUNT ? 'sickest first, then the busiest' : 'sickest first',
      ].join('; ')}
      filter="Filter interfaces"
    >
      {chosen.rows.length === 0 ? (
        <NothingMatches searched={countText(interfaces.length, 'interface')} />
      ) : (
        <DataTable
          label="Table of interfaces"
          look="has-first-fixed"
          columns={columns}
          keyOf={({ device }) => device}
          isWindowed
          {...chosen}
        />
      )}
    </Panel>
  )
}

/** The columns, each with a unit that fits all rows. */
function useInterfaceColumns(
  rows: readonly InterfaceRow[],
  answer: KnownColumns,
): readonly TableColumn<InterfaceRow>[] {
  const page = usePageState()
  const { fromMs, toMs } = useSpan(answer)
  const sparkFrom = useFirstPosition(answer)
  const spanWords = formatDuration(toMs - fromMs)
  const largest = (...names: (keyof InterfaceRow['readings'])[]): number =>
    Math.max(0, ...rows.flatMap(({ readings }) => names.map((name) => largestOfReading(readings[name]))))
  const bits = useUnit(BITS_PER_SECOND, largest('received', 'sent'))
  const packets = useUnit(PER_SECOND, largest('packetsIn', 'packetsOut'))
  const loss = useUnit(PER_SECOND, largest('errors', 'drops'))
  const isMixed = new Set(rows.map(({ columns: { simulated } }) => simulated)).size > 1
  const traffic = rows.flatMap(({ columns: { columns } }) =>
    [columns.sent, columns.received].filter((c) => c !== undefined),
  )
  const top = niceTop(largestValue(traffic, 0, (traffic[0]?.length ?? 0) - 1), bits.divisor)
  const reading = (
    key: string,
    name: keyof InterfaceRow['readings'],
    head: string,
    unit: DisplayUnit,
  ): TableColumn<InterfaceRow> => ({
    key,
    head: <UnitHead head={head} unit={unit.label} />,
    kind: 'number',
    cell: ({ readings }) => <ReadingWords unit={unit} reading={readings[name]} />,
    sortKey: ({ readings }) => readings[name].value,
  })
  const trouble = (key: 'errors' | 'drops', head: string): TableColumn<InterfaceRow> => ({
    ...reading(key, key, head, loss),
    look: ({ readings }) => (readings[key].value > 0 ? 'is-trouble' : ''),
  })
  const spark = (name: 'received' | 'sent'): TableColumn<InterfaceRow> => ({
    key: `${name} spark`,
    head: <SparkHead of={name} spanWords={spanWords} />,
    kind: 'spark',
    cell: ({ columns: { columns } }) => <Spark values={columns[name]} top={top} from={sparkFrom} />,
  })
  return [
    {
      key: 'interface',
      head: 'Interface',
      kind: 'rowHead',
      cell: ({ device, columns }) => (
        <>
          <Link href={page.hrefTo(`/fabric/${encodeURIComponent(device)}`)}>{device}</Link>{' '}
          {isMixed && <SimulatedMark of={columns} />}
        </>
      ),
      sortKey: ({ device }) => device,
    },
    {
      key: 'state',
      head: 'State',
      cell: ({ state: { tone, word } }) => <StateMark tone={tone} word={word} />,
      // Among a few interfaces each is found in its place.
      sortKey: ({ state, load }) => sicknessKey(state.tone, rows.length > LONG_COUNT ? load : 0),
    },
    reading('received', 'received', 'Received', bits),
    spark('received'),
    reading('sent', 'sent', 'Sent', bits),
    spark('sent'),
    reading('packets_in', 'packetsIn', 'Packets in', packets),
    reading('packets_out', 'packetsOut', 'out', packets),
    trouble('errors', 'Errors'),
    trouble('drops', 'Drops'),
    {
      key: 'carrier_changes',
      head: <UnitHead head="Carrier changes" unit={spanWords} />,
      kind: 'number',
      cell: ({ carrierChanges }) => (Number.isNaN(carrierChanges) ? '–' : groupThousands(String(carrierChanges))),
      sortKey: ({ carrierChanges }) => carrierChanges,
    },
    {
      key: 'speed',
      head: <UnitHead head="Link speed" unit="" />,
      kind: 'number',
      cell: ({ speed }) => formatQuantity(BITS_PER_SECOND, speed),
      sortKey: ({ speed }) => speed,
    },
  ]
}

function UnitHead({ head, unit }: { readonly head: string; readonly unit: string }) {
  return (
    <>
      {head} <span className="unit">{unit}</span>
    </>
  )
}

function Spark({
  values,
  top,
  from,
}: {
  readonly values: Float64Array | undefined
  readonly top: number
  readonly from: number
}) {
  return values ? <Sparkline values={values} top={top} from={from} to={values.length - 1} /> : '–'
}

function rowsOf(
  interfaces: readonly InterfaceColumns[],
  facts: readonly InterfaceFact[],
  span: ReadSpan,
): InterfaceRow[] {
  const factOf = new Map(facts.map((fact) => [fact.device, fact]))
  return interfaces.map((columns) => {
    const { device, errors, drops } = columns
    const { received, sent, packetsIn, packetsOut, carrierChanges, speed } = columns.columns
    const state = interfaceState(factOf.get(device))
    return {
      device,
      columns,
      state,
      ...interfaceLoad(columns, state, span),
      readings: {
        received: newestReading(received, span),
        sent: newestReading(sent, span),
        packetsIn: newestReading(packetsIn, span),
        packetsOut: newestReading(packetsOut, span),
        errors: newestReading(errors, span),
        drops: newestReading(drops, span),
      },
      carrierChanges: sumOf(carrierChanges),
      speed: lastValue(speed, span),
    }
  })
}

function sumOf(values: Float64Array | undefined): number {
  const known = [...(values ?? [])].filter((value) => !Number.isNaN(value))
  return known.length === 0 ? Number.NaN : known.reduce((sum, value) => sum + value, 0)
}
