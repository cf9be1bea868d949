import { usePageState } from '../state/time-window.ts'
import { parseSort, type Sort, sortRows } from './sort.ts'
import type { TableColumn } from './table-column.ts'

/** The rows that a table shows, and their sort. */
export interface ChosenRows<Row> {
  readonly rows: readonly Row[]
  readonly sort: Sort
}

/** How rows are chosen by the address. */
interface Choice<Row> {
  readonly columns: readonly Pick<TableColumn<Row>, 'key' | 'sortKey'>[]
  /** The sort of an address without one. */
  readonly fallback: Sort
  /** The words of a row that the filter of the address is compared with. */
  readonly wordsOf: (row: Row) => string
  /** Rows with a smaller rank come first, whatever the sort is. Default: all have one rank. */
  readonly rankOf?: (row: Row) => number
}

/** Filters and sorts rows as the address says. */
export function useChosenRows<Row>(
  rows: readonly Row[],
  { columns, fallback, wordsOf, rankOf }: Choice<Row>,
): ChosenRows<Row> {
  const { url } = usePageState()
  const sort = parseSort(url.sort, fallback)
  const filter = (url.q ?? '').toLowerCase()
  const matching = filter === '' ? rows : rows.filter((row) => wordsOf(row).toLowerCase().includes(filter))
  const sortKeyOf = columns.find(({ key }) => key === sort.column)?.sortKey ?? (() => '')
  return { rows: sortRows(matching, sort.direction, sortKeyOf, rankOf), sort }
}
