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

type Part = number | string

/** The sort key of a row, or several that are compared one after the other. NaN and the empty text are missing. */
export type SortKey = Part | readonly Part[]

/** Sorts rows. Missing values are last in both directions. Rows with equal keys keep their order. */
export function sortRows<Row>(rows: readonly Row[], direction: Sort['direction'], keyOf: (row: Row) => SortKey): Row[] {
  const sign = direction === 'ascending' ? 1 : -1
  return rows
    .map((row) => ({ row, parts: [keyOf(row)].flat() as readonly Part[] }))
    .sort((a, b) => compareParts(a.parts, b.parts, sign))
    .map(({ row }) => row)
}

function compareParts(a: readonly Part[], b: readonly Part[], sign: number): number {
  for (let at = 0; at < a.length; at++) {
    const difference = comparePart(a[at]!, b[at]!, sign)
    if (difference !== 0) return difference
  }
  return 0
}

function comparePart(a: Part, b: Part, sign: number): number {
  const missing = Number(isMissing(a)) - Number(isMissing(b))
  if (missing !== 0) return missing
  if (isMissing(a)) return 0
  return sign * (typeof a === 'number' && typeof b === 'number' ? a - b : compareNames(String(a), String(b)))
}

function isMissing(part: Part): boolean {
  return part === '' || Number.isNaN(part)
}
