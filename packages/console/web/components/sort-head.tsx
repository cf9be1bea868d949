import type { ReactNode } from 'react'
import { usePageState } from '../state/time-window.ts'
import { Icon } from './icon.tsx'
import { formatSort, nextSort, type Sort } from './sort.ts'

/** Head of a column that sorts its table; the sort is kept in the address. */
export function SortHead({
  column,
  sort,
  kind = 'number',
  className,
  children,
}: {
  readonly column: string
  readonly sort: Sort
  readonly kind?: 'number' | 'text'
  readonly className?: string
  readonly children: ReactNode
}) {
  const page = usePageState()
  const isSorted = sort.column === column
  const first = kind === 'number' ? 'descending' : 'ascending'
  const classes = [kind === 'number' ? 'is-number' : '', className ?? ''].filter(Boolean).join(' ')
  return (
    <th scope="col" className={classes || undefined} aria-sort={isSorted ? sort.direction : undefined}>
      <button
        type="button"
        className={isSorted ? 'sort-button is-sorted' : 'sort-button'}
        onClick={() => page.change({ sort: formatSort(nextSort(sort, column, first)) }, 'replace')}
      >
        {children}
        {isSorted && <Icon name={sort.direction === 'ascending' ? 'up' : 'chevron'} />}
      </button>
    </th>
  )
}
