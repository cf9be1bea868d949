import type { ReactNode } from 'react'
import { type IdleFold, IdleFoldButton } from './idle-fold.tsx'
import { RowWindow } from './row-window.tsx'
import { LONG_COUNT } from './sickness.ts'
import type { Sort } from './sort.ts'
import { SortHead } from './sort-head.tsx'
import { TableBox } from './table-box.tsx'
import { cellClasses, headClasses, type TableColumn } from './table-column.ts'

/** Height of the box in which a long table scrolls. */
const TALL_PX = 640
/** Most rows of a table that is drawn whole: thousands keep the browser busy for seconds. */
const WHOLE_LIMIT_COUNT = 200
/** A longer text may be cut, so that its tooltip has all of it. Unit: characters. */
const CUT_LENGTH = 48

/** One cell that spans several columns. */
export interface SpanningCell {
  /** Keys of the first and the last column that it replaces. */
  readonly from: string
  readonly to: string
  readonly look?: string
  readonly words: ReactNode
}

/** Rows below a head of their own. */
export interface RowGroup<Row> {
  readonly key: string
  readonly head: ReactNode
  readonly rows: readonly Row[]
}

interface TableProps<Row> {
  /** The description of the table for screen readers. */
  readonly label: string
  readonly columns: readonly TableColumn<Row>[]
  readonly rows?: readonly Row[]
  /** Rows in groups, in place of `rows`. */
  readonly groups?: readonly RowGroup<Row>[]
  readonly keyOf: (row: Row, place: number) => string | number
  /** Classes of the table: `is-stacked` shows rows as cards on small screens, `has-first-fixed` fixes one column. */
  readonly look?: string
  /** The sort of the rows. Default: heads do not sort. */
  readonly sort?: Sort
  /** A cell that replaces several cells of a row. */
  readonly spanOf?: (row: Row) => SpanningCell | undefined
  readonly rowLook?: (row: Row) => string | undefined
  /** Whether a long table scrolls in a box of its own. A very long table is windowed too. */
  readonly isBoxed?: boolean
  /** Whether a long table scrolls in a box of its own, and draws only the rows in view. */
  readonly isWindowed?: boolean
  /** Height of the box of a table that always scrolls in one. */
  readonly windowPx?: number
  /** Place of a row that is marked and kept in view; -1 for none. Only with `windowPx`. */
  readonly current?: number
  /** Idle rows below the table. */
  readonly fold?: IdleFold<Row>
  /** Words by which the search of the browser finds a row that is not drawn. */
  readonly wordsOf?: (row: Row) => string
  /** What stands below the rows, in the same box. */
  readonly children?: ReactNode
}

/** A table that its columns describe, in a box that scrolls sideways where the screen is narrow. */
export function DataTable<Row>({ label, rows = [], windowPx, children, ...props }: TableProps<Row>) {
  const { fold, wordsOf, isBoxed = false, isWindowed = false, ...table } = props
  const rowCount = rows.length + (fold?.rows.length ?? 0)
  const isLong = rowCount > LONG_COUNT
  const isInView = (isWindowed && isLong) || (isBoxed && rowCount > WHOLE_LIMIT_COUNT)
  if (windowPx === undefined && !isInView)
    return (
      <TableBox label={label} {...(isBoxed && isLong ? { heightPx: TALL_PX } : {})}>
        <Table rows={rows} {...table} />
        {children}
      </TableBox>
    )
  return (
    <>
      <RowWindow
        label={label}
        rows={rows}
        heightPx={windowPx ?? TALL_PX}
        isFixed={windowPx !== undefined}
        current={table.current}
        fold={fold}
        wordsOf={wordsOf}
      >
        {(drawn) => <Table {...table} {...drawn} />}
      </RowWindow>
      {fold && <IdleFoldButton fold={fold} />}
    </>
  )
}

type DrawnTable<Row> = Omit<
  TableProps<Row>,
  'label' | 'isBoxed' | 'isWindowed' | 'windowPx' | 'fold' | 'wordsOf' | 'children'
> & {
  /** Rows of the whole table, where only some are drawn. */
  readonly rowCount?: number
  /** Place of the first row that is drawn. */
  readonly firstPlace?: number
}

function Table<Row>({ columns, groups, look = '', sort, rowCount, rows = [], ...body }: DrawnTable<Row>) {
  return (
    <table className={`table ${look}`.trim()} aria-rowcount={rowCount === undefined ? undefined : rowCount + 1}>
      <thead>
        <tr>
          {columns.map((column) => (
            <Head key={column.key} column={column} sort={sort} />
          ))}
        </tr>
      </thead>
      {groups?.map((group) => (
        <tbody key={group.key}>
          <tr className="table-group">
            <th scope="rowgroup" colSpan={columns.length}>
              {group.head}
            </th>
          </tr>
          <Rows columns={columns} rows={group.rows} {...body} />
        </tbody>
      ))}
      {groups === undefined && (
        <tbody>
          <Rows columns={columns} rows={rows} isNumbered={rowCount !== undefined} {...body} />
        </tbody>
      )}
    </table>
  )
}

function Head<Row>({ column, sort }: { readonly column: TableColumn<Row>; readonly sort: Sort | undefined }) {
  const { key, head, kind, isWide = false, sortKey } = column
  if (sort === undefined || sortKey === undefined)
    return (
      <th scope="col" className={headClasses(column)}>
        {head}
      </th>
    )
  return (
    <SortHead
      column={key}
      sort={sort}
      kind={kind === 'number' ? 'number' : 'text'}
      {...(isWide ? { className: 'is-wide' } : {})}
    >
      {head}
    </SortHead>
  )
}

function Rows<Row>({
  columns,
  rows = [],
  keyOf,
  spanOf,
  rowLook,
  isNumbered = false,
  firstPlace = 0,
  current = -1,
}: Pick<DrawnTable<Row>, 'columns' | 'rows' | 'keyOf' | 'spanOf' | 'rowLook' | 'firstPlace' | 'current'> & {
  readonly isNumbered?: boolean
}) {
  return rows.map((row, place) => (
    <tr
      key={keyOf(row, firstPlace + place)}
      className={place === current ? 'is-current' : rowLook?.(row)}
      aria-current={place === current || undefined}
      aria-rowindex={isNumbered ? firstPlace + place + 2 : undefined}
    >
      {cellsOf(row, columns, spanOf?.(row))}
    </tr>
  ))
}

function cellsOf<Row>(row: Row, columns: readonly TableColumn<Row>[], span: SpanningCell | undefined): ReactNode[] {
  const from = columns.findIndex(({ key }) => key === span?.from)
  const to = columns.findIndex(({ key }) => key === span?.to)
  return columns.map((column, place) => {
    const { key, kind, label } = column
    if (span && place === from)
      return (
        <td key={key} colSpan={to - from + 1} className={span.look}>
          {span.words}
        </td>
      )
    if (span && place > from && place <= to) return null
    const content = column.cell(row)
    const shared = { className: cellClasses(column, row), title: column.title?.(row) ?? tooltipOf(content) }
    return kind === 'rowHead' ? (
      <th key={key} scope="row" {...shared}>
        {content}
      </th>
    ) : (
      <td key={key} data-label={label} {...shared}>
        {content}
      </td>
    )
  })
}

function tooltipOf(content: ReactNode): string | undefined {
  return typeof content === 'string' && content.length > CUT_LENGTH ? content : undefined
}
