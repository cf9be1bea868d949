import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { Sort } from './sort.ts'
import { SortHead } from './sort-head.tsx'
import { TableBox } from './table-box.tsx'
import { cellClasses, headClasses, type TableColumn } from './table-column.ts'

/** Tables with more rows scroll in a box of their own, if they may. */
const TALL_COUNT = 24
const TALL_PX = 640
/** Height of a row whose table draws only the rows in view. */
const ROW_PX = 24
/** Rows that are drawn above and below those in view. */
const MARGIN_COUNT = 4

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
  /** Whether a long table scrolls in a box of its own. */
  readonly isBoxed?: boolean
  /** Height of a table that draws only the rows in view. Its rows have one height. Default: all rows are drawn. */
  readonly windowPx?: number
  /** Place of a row that is marked and kept in view; -1 for none. Only with `windowPx`. */
  readonly current?: number
  /** What stands below the rows, in the same box. */
  readonly children?: ReactNode
}

/** A table that its columns describe, in a box that scrolls sideways where the screen is narrow. */
export function DataTable<Row>({ label, rows = [], isBoxed = false, windowPx, children, ...table }: TableProps<Row>) {
  if (windowPx !== undefined) return <RowWindow label={label} rows={rows} heightPx={windowPx} {...table} />
  return (
    <TableBox label={label} {...(isBoxed && rows.length > TALL_COUNT ? { heightPx: TALL_PX } : {})}>
      <Table rows={rows} {...table} />
      {children}
    </TableBox>
  )
}

/** A table of thousands of rows, of which only those in view are in the document. */
function RowWindow<Row>({
  label,
  rows,
  heightPx,
  current = -1,
  ...table
}: Omit<TableProps<Row>, 'rows'> & { readonly rows: readonly Row[]; readonly heightPx: number }) {
  const [scrolledPx, setScrolledPx] = useState(0)
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const scrolling = box.current?.parentElement
    if (!scrolling || current < 0) return
    const topPx = current * ROW_PX
    if (topPx < scrolling.scrollTop + ROW_PX || topPx > scrolling.scrollTop + heightPx - 3 * ROW_PX)
      scrolling.scrollTop = topPx - heightPx / 2
  }, [current, heightPx])
  const first = Math.max(0, Math.floor(scrolledPx / ROW_PX) - MARGIN_COUNT)
  const last = Math.min(rows.length, first + Math.ceil(heightPx / ROW_PX) + 2 * MARGIN_COUNT)
  return (
    <TableBox label={label} heightPx={heightPx} onScroll={setScrolledPx}>
      {/* The rows that are not drawn leave their room above and below. */}
      <div ref={box} style={{ paddingTop: first * ROW_PX, paddingBottom: (rows.length - last) * ROW_PX }}>
        <Table
          {...table}
          rows={rows.slice(first, last)}
          rowCount={rows.length}
          firstPlace={first}
          current={current - first}
        />
      </div>
    </TableBox>
  )
}

type DrawnTable<Row> = Omit<TableProps<Row>, 'label' | 'isBoxed' | 'windowPx' | 'children'> & {
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
    const { key, kind, cell, label, title } = column
    if (span && place === from)
      return (
        <td key={key} colSpan={to - from + 1} className={span.look}>
          {span.words}
        </td>
      )
    if (span && place > from && place <= to) return null
    const shared = { className: cellClasses(column, row), title: title?.(row) }
    return kind === 'rowHead' ? (
      <th key={key} scope="row" {...shared}>
        {cell(row)}
      </th>
    ) : (
      <td key={key} data-label={label} {...shared}>
        {cell(row)}
      </td>
    )
  })
}
