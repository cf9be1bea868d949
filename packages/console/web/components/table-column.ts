import type { ReactNode } from 'react'
import type { SortKey } from './sort.ts'

/** One column of a table: its head, and how it shows a row. */
export interface TableColumn<Row> {
  /** Different from those of other columns. The address names the column by it as the sort. */
  readonly key: string
  readonly head: ReactNode
  readonly cell: (row: Row) => ReactNode
  /**
   * `rowHead` names the row. Numbers stand at the right, with digits of one width; the digits of `date` keep their
   * width. `spark` is a small drawing. Default: `text`.
   */
  readonly kind?: 'rowHead' | 'text' | 'number' | 'date' | 'spark'
  /** Whether it takes the width that the other columns leave. */
  readonly isWide?: boolean
  /** Classes of its cells, or of the cell of one row. */
  readonly look?: string | ((row: Row) => string)
  /** Name in front of the value on small screens, where rows are cards without heads. Default: none. */
  readonly label?: string
  /** The tooltip of a cell. */
  readonly title?: (row: Row) => string | undefined
  /** The sort key of a row. Default: the column does not sort. */
  readonly sortKey?: (row: Row) => SortKey
}

const HEAD_CLASSES = { rowHead: '', text: '', number: 'is-number', date: 'is-number', spark: 'is-spark' } as const
const CELL_CLASSES = { ...HEAD_CLASSES, number: 'is-number num' } as const

/** Classes of the head of a column. */
export function headClasses<Row>({ kind = 'text', isWide = false }: TableColumn<Row>): string | undefined {
  return [HEAD_CLASSES[kind], isWide ? 'is-wide' : ''].filter(Boolean).join(' ') || undefined
}

/** Classes of the cell of a row. */
export function cellClasses<Row>({ kind = 'text', look = '' }: TableColumn<Row>, row: Row): string | undefined {
  return [CELL_CLASSES[kind], typeof look === 'string' ? look : look(row)].filter(Boolean).join(' ') || undefined
}
