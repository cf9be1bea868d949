import { Link } from 'wouter'
import type { Columns } from '../../api/query-client.ts'
import type { FieldInfo, MetricQuery, SeriesValue, TypeInfo } from '../../api/types.ts'
import { Empty } from '../../components/empty.tsx'
import { FilterInput } from '../../components/filter-input.tsx'
import { parseSort, type Sort, type SortKey, sortRows } from '../../components/sort.ts'
import { SortHead } from '../../components/sort-head.tsx'
import { TableBox } from '../../components/table-box.tsx'
import { countOf, formatQuantity, groupThousands } from '../../format/number.ts'
import { quantityOf } from '../../format/quantity.ts'
import { formatAge } from '../../format/time.ts'
import { useSecond } from '../../state/clock.ts'
import { formatSignal } from '../../state/signal.ts'
import { usePageState } from '../../state/time-window.ts'
import { newestValue } from '../interface-data.ts'

interface Row {
  readonly field: FieldInfo
  readonly query: MetricQuery
  readonly latest: SeriesValue | undefined
  readonly rate: number
}

interface TableProps {
  readonly device: string
  readonly type: TypeInfo
  readonly queries: readonly MetricQuery[]
  readonly latest: readonly SeriesValue[]
  readonly recent: Columns
}

const AS_READ: Sort = { column: 'order', direction: 'ascending' }

/** Every field with its exact value; what is absent stands last, with its reason. */
export function CounterTable({ device, type, queries, latest, recent }: TableProps) {
  const page = usePageState()
  const sort = parseSort(page.url.sort, AS_READ)
  const filter = (page.url.q ?? '').toLowerCase()
  const all = type.fields.map((field, order): Row => {
    const query = queries[order]!
    const column = recent.columns(query)[0]
    return {
      field,
      query,
      latest: latest.find(({ metric }) => metric === field.metric),
      rate: field.role === 'counter' && column && recent.grid ? newestValue(recent.grid.slice(column)) : Number.NaN,
    }
  })
  const matching = all.filter(({ field }) => `${field.metric} ${field.help}`.toLowerCase().includes(filter))
  const rows = sortRows(
    matching,
    sort.direction,
    (row) => sortKey(row, sort.column, all),
    (row) => Number(isAbsent(row)),
  )
  return (
    <section className="panel" aria-labelledby="counter-table">
      <header className="panel-head has-line is-centred">
        <h2 id="counter-table" className="panel-title">
          Counters
        </h2>
        <span className="panel-caption">as read now, exact</span>
        <FilterInput label="Filter counters" />
      </header>
      {rows.length === 0 ? (
        <Empty fact={`Nothing matches "${page.url.q}".`}>{countOf(all.length, 'field')} searched.</Empty>
      ) : (
        <TableBox label="Table of counters">
          <table className="table has-first-fixed">
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
                  Now
                </SortHead>
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
                <CounterRow key={row.field.name} row={row} device={device} />
              ))}
            </tbody>
          </table>
        </TableBox>
      )}
    </section>
  )
}

function CounterRow({ row, device }: { readonly row: Row; readonly device: string }) {
  const page = usePageState()
  const nowMs = useSecond()
  const { field, query, latest, rate } = row
  const href = page.hrefTo('/explore', { sig: [formatSignal({ ...query, matchers: deviceMatcher(device) })] })
  const quantity = quantityOf({ ...field, function: query.function === 'increase' ? 'rate' : query.function })
  return (
    <tr>
      <th scope="row" className="mono">
        <Link href={href}>{field.name}</Link>
      </th>
      {isAbsent(row) ? (
        <td colSpan={4} className="is-quiet is-wrapping">
          Absent. {latest?.absent || 'No value came yet.'}
        </td>
      ) : (
        <>
          <td className="is-number num">{groupThousands(latest?.value ?? '')}</td>
          <td className="is-quiet">{unitOf(field)}</td>
          <td className="is-number num">{field.role === 'counter' ? formatQuantity(quantity, rate) : '–'}</td>
          <td className="is-number num is-quiet">{formatAge(nowMs - (latest?.timeMs ?? nowMs))}</td>
        </>
      )}
      <td className="is-quiet is-wrapping">{field.help}</td>
    </tr>
  )
}

function deviceMatcher(device: string): MetricQuery['matchers'] & object {
  return [{ label: 'device', op: '=', value: device }]
}

function unitOf({ unit, name }: FieldInfo): string {
  if (name.startsWith('speed')) return 'bytes/s'
  if (unit) return unit
  return /(packets|errors|dropped|fifo|frame|compressed|multicast|carrier)_total$/.test(name) ? 'packets' : ''
}

function isAbsent({ latest }: Row): boolean {
  return latest?.value == null
}

function sortKey({ field, latest, rate }: Row, column: string, all: readonly Row[]): SortKey {
  if (column === 'name') return field.name
  if (column === 'value') return latest?.value == null ? Number.NaN : Number(latest.value)
  if (column === 'rate') return rate
  return all.findIndex((row) => row.field === field)
}
