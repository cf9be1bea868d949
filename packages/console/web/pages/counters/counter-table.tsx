import type { Labels, LatestSeries, ListedType, MetricQuery } from '@sonde/sdk/api'
import { Link } from 'wouter'
import { Breakable } from '../../components/breakable.tsx'
import { Empty } from '../../components/empty.tsx'
import { FilterInput } from '../../components/filter-input.tsx'
import { PresentCaption } from '../../components/present-caption.tsx'
import { parseSort, type Sort, sortRows } from '../../components/sort.ts'
import { SortHead } from '../../components/sort-head.tsx'
import { TableBox } from '../../components/table-box.tsx'
import { countOf, formatQuantity, groupThousands } from '../../format/number.ts'
import { quantityOf, unitWords } from '../../format/quantity.ts'
import { formatAge } from '../../format/time.ts'
import { useSecond } from '../../state/clock.ts'
import { formatSignal } from '../../state/signal.ts'
import { usePageState } from '../../state/time-window.ts'
import { absentWords, type CounterRow, counterRows, counterSortKey, isAbsent } from './counter-rows.ts'
import { useCounterRates } from './use-counter-rates.ts'

interface TableProps {
  readonly types: readonly ListedType[]
  /** The latest values of the device, and of no other; undefined before the server has said. */
  readonly latest: readonly LatestSeries[] | undefined
  /** Conditions that make the series of a metric those of the device. */
  readonly matchersFor: (metric: string) => MetricQuery['matchers']
  /** Labels that all series of the device have: they tell no rows apart. */
  readonly shared?: Labels
  /** Why nothing is read of the device any more; empty while it is there. */
  readonly goneWords?: string
}

/** Tables with more rows scroll in a box of their own. */
const TALL_COUNT = 24
const TALL_PX = 640
const NOT_SAID: readonly LatestSeries[] = []
const AS_READ: Sort = { column: 'order', direction: 'ascending' }

/** Every field of a device with its exact value; what is absent stands last, with its reason. */
export function CounterTable({ types, latest, matchersFor, shared, goneWords = '' }: TableProps) {
  const page = usePageState()
  const sort = parseSort(page.url.sort, AS_READ)
  const filter = (page.url.q ?? '').toLowerCase()
  const said = latest ?? NOT_SAID
  const all = counterRows(types, said, useCounterRates(said), matchersFor, shared)
  const order = new Map(all.map((row, place) => [row, place]))
  const matching = all.filter(({ field, name }) =>
    `${field.metric} ${name} ${field.help}`.toLowerCase().includes(filter),
  )
  const rows = sortRows(
    matching,
    sort.direction,
    (row) => counterSortKey(row, sort.column, order.get(row) ?? 0),
    (row) => Number(isAbsent(row)),
  )
  const isOneType = types.length === 1
  return (
    <section className="panel" aria-labelledby="counter-table">
      <header className="panel-head has-line is-centred">
        <h2 id="counter-table" className="panel-title">
          Counters
        </h2>
        <PresentCaption>as last read, exact</PresentCaption>
        <FilterInput label="Filter counters" />
      </header>
      {rows.length === 0 ? (
        <Empty fact={`Nothing matches "${page.url.q ?? ''}".`}>{countOf(all.length, 'field')} searched.</Empty>
      ) : (
        <TableBox label="Table of counters" {...(rows.length > TALL_COUNT ? { heightPx: TALL_PX } : {})}>
          <table className="table counter-table has-first-fixed">
            <thead>
              <tr>
                <SortHead column="name" sort={sort} kind="text">
                  Counter
                </SortHead>
                <SortHead column="value" sort={sort}>
                  Value
                </SortHead>
                <th scope="col">Unit</th>
                <SortHead column="rate" sort={sort}>
                  Rate
                </SortHead>
                {!isOneType && (
                  <SortHead column="source" sort={sort} kind="text">
                    Source
                  </SortHead>
                )}
                <th scope="col" className="is-number">
                  Age
                </th>
                <th scope="col" className="is-wide">
                  What it is
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <Row
                  key={row.key}
                  row={row}
                  hasSource={!isOneType}
                  absentWords={latest ? absentWords(row, goneWords) : ''}
                />
              ))}
            </tbody>
          </table>
        </TableBox>
      )}
    </section>
  )
}

function Row({
  row,
  hasSource,
  absentWords,
}: {
  readonly row: CounterRow
  readonly hasSource: boolean
  /** Why it has no value, where it has none; empty before the server has said. */
  readonly absentWords: string
}) {
  const page = usePageState()
  const nowMs = useSecond()
  const { field, name, latest, rate, query, type } = row
  const href = page.hrefTo('/explore', { sig: [formatSignal(query)] })
  return (
    <tr>
      <th scope="row" className="mono">
        <Link href={href}>{<Breakable name={name} />}</Link>
      </th>
      {isAbsent(row) ? (
        <td colSpan={hasSource ? 5 : 4} className="is-quiet is-wrapping">
          {absentWords}
        </td>
      ) : (
        <>
          <td className="is-number num">{groupThousands(latest?.value ?? '')}</td>
          <td className="is-quiet">{unitWords(field)}</td>
          <td className="is-number num">{formatQuantity(quantityOf({ ...field, function: query.function }), rate)}</td>
          {hasSource && <td className="is-quiet">{type}</td>}
          <td className="is-number num is-quiet">{formatAge(nowMs - (latest?.timeMs ?? nowMs))}</td>
        </>
      )}
      <td className="is-quiet is-wrapping">{field.help}</td>
    </tr>
  )
}
