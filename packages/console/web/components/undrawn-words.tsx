import { useEffect, useRef } from 'react'
import type { RowView } from './row-places.ts'

/** Rows of longer tables are left to the filter. */
const SEARCHED_LIMIT_COUNT = 2_000

interface WordsProps<Row> {
  readonly rows: readonly Row[]
  /** The rows that are in the document. */
  readonly drawn: Pick<RowView, 'first' | 'end'>
  readonly wordsOf: (row: Row) => string
  /** Called with the place of a row that the browser found. */
  readonly onFound: (place: number) => void
}

/** Words of the rows that are not drawn, which only the search of the browser sees. */
export function UndrawnWords<Row>({ rows, drawn: { first, end }, wordsOf, onFound }: WordsProps<Row>) {
  const list = useRef<HTMLUListElement>(null)
  const found = useRef(onFound)
  useEffect(() => {
    found.current = onFound
  })
  useEffect(() => {
    const element = list.current
    const onMatch = ({ target }: Event): void => {
      if (target instanceof HTMLElement) found.current(Number(target.dataset.place))
    }
    element?.addEventListener('beforematch', onMatch)
    return () => element?.removeEventListener('beforematch', onMatch)
  }, [])
  const undrawn = rows.slice(0, SEARCHED_LIMIT_COUNT).map((row, place) => ({ place, words: wordsOf(row) }))
  return (
    <ul className="undrawn-words" aria-hidden="true" ref={list}>
      {undrawn
        .filter(({ place }) => place < first || place >= end)
        .map(({ place, words }) => (
          <li key={place} data-place={place} ref={hideUntilFound}>
            {words}
          </li>
        ))}
    </ul>
  )
}

/** React knows no such value of `hidden`. The browser removes it from a row that it found. */
function hideUntilFound(element: HTMLElement | null): void {
  element?.setAttribute('hidden', 'until-found')
}
