import { usePageState } from '../state/time-window.ts'
import { Empty } from './empty.tsx'

/** Stands in place of a table of which the filter leaves no row. */
export function NothingMatches({ searched }: { readonly searched: string }) {
  return <Empty fact={`Nothing matches "${usePageState().url.q ?? ''}".`}>{searched} searched.</Empty>
}
