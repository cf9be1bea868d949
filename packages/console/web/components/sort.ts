import { compareNames } from '../format/names.ts'

/** Column and direction that a table is sorted by. */
export interface Sort {
  readonly column: string
  readonly direction: 'ascending' | 'descending'
}

/** Reads the sort of an address: `name`, or `-name` for descending. */
export function parseSort(text: string | undefined, fallback: Sort): Sort {
  if (!text) return fallback
  return text.startsWith('-')
    ? { column: text.slice(1), direction: 'descending' }
    : { column: text, direction: 'ascending' }
}

/** Writes a sort as {@link parseSort} reads it. */
export function formatSort({ column, direction }: Sort): string {
  return direction === 'descending' ? `-${column}` : column
}

/** The sort after a press on a column's head: numbers start with the largest, texts with the first. */
export function nextSort(current: Sort, column: string, first: Sort['direction']): Sort {
  if (current.column !== column) return { column, direction: first }
  return { column, direction: current.direction === 'ascending' ? 'descending' : 'ascending' }
}

/** The sort key of a row. NaN and the empty text count as missing. */
export type SortKey = number | string

/** Sorts rows by rank, the smallest first, then by the column. Missing values are last in both directions. */
export function sortRows<Row>(
  rows: readonly Row[],
  direction: Sort['direction'],
  keyOf: (row: Row) => SortKey,
  rankOf: (row: Row) => number = () => 0,
): Row[] {
  const sign = direction === 'ascending' ? 1 : -1
  return rows
    .map((row) => ({ row, key: keyOf(row), rank: rankOf(row) }))
    .sort((a, b) => a.rank - b.rank || compareKeys(a.key, b.key, sign))
    .map(({ row }) => row)
}

function compareKeys(a: SortKey, b: SortKey, sign: number): number {
  const missing = Number(isMissing(a)) - Number(isMissing(b))
  if (missing !== 0) return missing
  if (isMissing(a)) return 0
  return sign * (typeof a === 'number' && typeof b === 'number' ? a - b : compareNames(String(a), String(b)))
}

function isMissing(key: SortKey): boolean {
  return key === '' || Number.isNaN(key)
}
