import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { IdleFold } from './idle-fold.tsx'
import { RowPlaces } from './row-places.ts'
import { TableBox } from './table-box.tsx'
import { UndrawnWords } from './undrawn-words.tsx'

/** Assumed height of a row until the first is drawn. */
const ROW_PX = 31

/** The rows of a table that are drawn. */
interface DrawnRows<Row> {
  readonly rows: readonly Row[]
  /** Rows of the whole table. */
  readonly rowCount: number
  readonly firstPlace: number
  /** Place of the marked row among the drawn rows. */
  readonly current: number
}

interface WindowProps<Row> {
  readonly label: string
  readonly rows: readonly Row[]
  /** Height of the box. */
  readonly heightPx: number
  /** Whether a box of few rows is as high. */
  readonly isFixed: boolean
  /** Place of a row that is kept in view; -1 for none. */
  readonly current: number | undefined
  readonly fold: IdleFold<Row> | undefined
  readonly wordsOf: ((row: Row) => string) | undefined
  /** Draws a table of some rows. */
  readonly children: (drawn: DrawnRows<Row>) => ReactNode
}

/** A box with a long table, of which only the rows in view are in the document. */
export function RowWindow<Row>({
  label,
  rows,
  heightPx,
  isFixed,
  current = -1,
  fold,
  wordsOf,
  children,
}: WindowProps<Row>) {
  const [scrolledPx, setScrolledPx] = useState(0)
  const [, setMeasuredCount] = useState(0)
  const [places] = useState(() => new RowPlaces(ROW_PX))
  const [wanted, setWanted] = useState(-1)
  const content = useRef<HTMLDivElement>(null)
  const view = places.view(rows.length, scrolledPx, heightPx)
  const { first, end } = view
  // The heights of rows are known once they are drawn. They change with the width of the table, and with its height.
  useLayoutEffect(() => {
    const element = content.current
    if (element === null || end === first) return
    const measure = (): void => {
      const heights = [...element.querySelectorAll('tbody > tr')].map((row) => row.getBoundingClientRect().height)
      if (places.measure(first, heights, element.clientWidth)) setMeasuredCount((count) => count + 1)
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [first, end, places])
  useEffect(() => {
    const place = wanted >= 0 && wanted < rows.length ? wanted : current
    const box = content.current?.parentElement
    if (!box || place < 0) return
    const [topPx, rowPx] = [places.topOf(place), places.topOf(place + 1) - places.topOf(place)]
    const isInView = topPx >= box.scrollTop + rowPx && topPx <= box.scrollTop + heightPx - 3 * rowPx
    if (!isInView) box.scrollTop = topPx - heightPx / 2
    if (place === wanted) setWanted(-1)
  }, [wanted, current, rows.length, heightPx, places])
  return (
    <>
      {wordsOf && (
        <UndrawnWords
          rows={fold?.isOpen === false ? [...rows, ...fold.rows] : rows}
          drawn={view}
          wordsOf={wordsOf}
          onFound={(place) => {
            if (place >= rows.length) fold?.toggle()
            setWanted(place)
          }}
        />
      )}
      <TableBox label={label} {...(isFixed ? { heightPx } : { heightMaxPx: heightPx })} onScroll={setScrolledPx}>
        {/* The rows that are not drawn leave their room above and below. */}
        <div ref={content} style={{ paddingTop: view.abovePx, paddingBottom: view.belowPx }}>
          {children({
            rows: rows.slice(first, end),
            rowCount: rows.length,
            firstPlace: first,
            current: current - first,
          })}
        </div>
      </TableBox>
    </>
  )
}
