import type { Labels, LatestSeries, ListedType, MetricQuery } from '@sonde/sdk/api'
import { Link } from 'wouter'
import { Breakable } from '../../components/breakable.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { NothingMatches } from '../../components/nothing-matches.tsx'
import { Panel } from '../../components/panel.tsx'
import { type Sort, sortRows } from '../../components/sort.ts'
import type { TableColumn } from '../../components/table-column.ts'
import { useChosenRows } from '../../components/use-chosen-rows.ts'
import { countText, formatQuantity, groupThousands } from '../../format/number.ts'
import { quantityOf, unitWords } from '../../format/quantity.ts'
import { formatAge } from '../../format/time.ts'
import { useSecond } from '../../state/clock.ts'
import { formatSignal } from '../../state/signal.ts'
import { usePageState } from '../../state/time-window.ts'
import { absentWords, type CounterRow, counterRows, isAbsent } from './counter-rows.ts'
import { useCounterRates } from './use-counter-rates.ts'

interface TableProps {
  readonly types: readonly ListedType[]
  /** The latest values of this device only; undefined before the first answer. */
  readonly latest: readonly LatestSeries[] | undefined
  /** Conditions that select the series of the device. */
  readonly matchersFor: (metric: string) => MetricQuery['matchers']
  /** Labels that all series of the device share. Row names leave them out. */
  readonly shared?: Labels
  /** Why the device is no longer read; empty while it is present. */
  readonly goneWords?: string
}

const NOT_SAID: readonly LatestSeries[] = []
const AS_READ: Sort = { column: 'order', direction: 'ascending' }

/** Every field of a device with its exact value. Absent fields come last, with the reason. */
export function CounterTable({ types, latest, matchersFor, shared, goneWords = '' }: TableProps) {
  const page = usePageState()
  const said = latest ?? NOT_SAID
  const all = counterRows(types, said, useCounterRates(said), matchersFor, shared)
  const columns: readonly TableColumn<CounterRow>[] = [
    {
      key: 'name',
      head: 'Counter',
      kind: 'rowHead',
      look: 'mono',
      cell: ({ query, name }) => (
        <Link href={page.hrefTo('/explore', { sig: [formatSignal(query)] })}>
          <Breakable name={name} />
        </Link>
      ),
      sortKey: ({ name }) => name,
    },
    {
      key: 'value',
      head: 'Value',
      kind: 'number',
      cell: ({ latest }) => groupThousands(latest?.value ?? ''),
      sortKey: ({ latest }) => (latest?.value == null ? Number.NaN : Number(latest.value)),
    },
    { key: 'unit', head: 'Unit', look: 'is-quiet', cell: ({ field }) => unitWords(field) },
    {
      key: 'rate',
      head: 'Rate',
      kind: 'number',
      cell: ({ field, query, rate }) => formatQuantity(quantityOf({ ...field, function: query.function }), rate),
      sortKey: ({ rate }) => rate,
    },
    ...(types.length === 1 ? [] : [SOURCE_COLUMN]),
    { key: 'age', head: 'Age', kind: 'number', look: 'is-quiet', cell: ({ latest }) => <Age latest={latest} /> },
    { key: 'help', head: 'What it is', isWide: true, look: 'is-quiet is-wrapping', cell: ({ field }) => field.help },
  ]
  // Without a sort of the address the fields stand as they are read, and those without a value come last.
  const chosen = useChosenRows(
    sortRows(all, 'ascending', (row) => Number(isAbsent(row))),
    { columns, fallback: AS_READ, wordsOf: ({ field, name }) => `${field.metric} ${name} ${field.help}` },
  )
  return (
    <Panel id="counter-table" title="Counters" caption="as last read, exact" isPresent filter="Filter counters">
      {chosen.rows.length === 0 ? (
        <NothingMatches searched={countText(all.length, 'field')} />
      ) : (
        <DataTable
          label="Table of counters"
          look="counter-table has-first-fixed"
          columns={columns}
          keyOf={({ key }) => key}
          {...chosen}
          spanOf={(row) =>
            isAbsent(row)
              ? {
                  from: 'value',
                  to: 'age',
                  look: 'is-quiet is-wrapping',
                  // The reason is unknown before the first answer.
                  words: latest && absentWords(row, goneWords),
                }
              : undefined
          }
          isBoxed
        />
      )}
    </Panel>
  )
}

const SOURCE_COLUMN: TableColumn<CounterRow> = {
  key: 'source',
  head: 'Source',
  look: 'is-quiet',
  cell: ({ type }) => type,
  sortKey: ({ type }) => type,
}

function Age({ latest }: Pick<CounterRow, 'latest'>) {
  const nowMs = useSecond()
  return formatAge(nowMs - (latest?.timeMs ?? nowMs))
}
