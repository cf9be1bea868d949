import { usePageState } from '../state/time-window.ts'
import { Empty } from './empty.tsx'

/** Shown if the filter of a table leaves no row. */
export function NothingMatches({ searched }: { readonly searched: string }) {
  return <Empty fact={`Nothing matches "${usePageState().url.q ?? ''}".`}>{searched} searched.</Empty>
}
