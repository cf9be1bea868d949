import { usePageState } from '../state/time-window.ts'
import { formatSort, parseSort, type Sort, type SortKey, sortRows } from './sort.ts'
import type { TableColumn } from './table-column.ts'
import { type FoldedList, useIdleFold } from './use-idle-fold.ts'
import { useSteadyOrder } from './use-steady-order.ts'

/** The rows that a table shows, their sort, and the rows that it folds. */
export interface ChosenRows<Row> extends FoldedList<Row> {
  readonly sort: Sort
  readonly wordsOf: (row: Row) => string
}

/** How rows are chosen by the address. */
interface Choice<Row> {
  readonly columns: readonly Pick<TableColumn<Row>, 'key' | 'sortKey'>[]
  /** The sort of an address without one. */
  readonly fallback: Sort
  /** The words of a row that the filter of the address is compared with. */
  readonly wordsOf: (row: Row) => string
  /** Whether nothing happens in a row. A long list in its default order folds such rows. Default: none is idle. */
  readonly isIdle?: (row: Row) => boolean
  /** What the rows are. */
  readonly noun?: readonly [one: string, many: string]
}

/** Filters, sorts and folds rows as the address says. */
export function useChosenRows<Row>(
  all: readonly Row[],
  { columns, fallback, wordsOf, isIdle = () => false, noun = ['row', 'rows'] }: Choice<Row>,
): ChosenRows<Row> {
  const { url } = usePageState()
  const asked = parseSort(url.sort, fallback)
  const keyOf = (sort: Sort) => columns.find(({ key, sortKey }) => key === sort.column && sortKey)?.sortKey
  // The sort of the address may be that of another table of the page.
  const sort = keyOf(asked) ? asked : fallback
  const filter = (url.q ?? '').toLowerCase()
  const matching = filter === '' ? all : all.filter((row) => wordsOf(row).toLowerCase().includes(filter))
  const sortKeyOf = keyOf(sort) ?? (() => '')
  const isDefault = sort.column === fallback.column && sort.direction === fallback.direction
  const markOf = (row: Row) => `${healthOf(sortKeyOf(row))} ${wordsOf(row)}`
  const sorted = sortRows(matching, sort.direction, sortKeyOf)
  const steady = useSteadyOrder(sorted, markOf, [formatSort(sort), filter, url.fromMs, url.toMs].join(' '))
  const folded = useIdleFold(isDefault ? steady : sorted, isDefault && filter === '' ? isIdle : () => false, noun)
  return { ...folded, sort, wordsOf }
}

/** The part of a sort key that shows at once when it changes: the state, and whether there is any load. */
function healthOf(key: SortKey): string {
  const [health, load] = typeof key === 'object' ? [key[0], key.at(-1)] : ['', key]
  return `${health} ${Number(load) > 0}`
}
