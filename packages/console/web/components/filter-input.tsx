import { usePageState } from '../state/time-window.ts'

/** Filters a table by text that is kept in the address. */
export function FilterInput({ label }: { readonly label: string }) {
  const page = usePageState()
  return (
    <input
      type="search"
      className="input filter-input"
      aria-label={label}
      placeholder={label}
      value={page.url.q ?? ''}
      onChange={(event) => page.change({ q: event.currentTarget.value }, 'replace')}
    />
  )
}
