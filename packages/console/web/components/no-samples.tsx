import { useNode } from '../api/resources.ts'
import type { KnownColumns } from '../api/use-known-columns.ts'
import { formatDateTime, zoneName } from '../format/time.ts'
import { DEFAULT_WINDOW_MS, usePageState } from '../state/time-window.ts'
import { Empty } from './empty.tsx'
import { useSpan } from './use-span.ts'

/** The store says when its first data are to the hour. */
const HOUR_MS = 3_600_000

/** Shows that a window is empty, with a link to the first samples. Empty while loading. */
export function NoSamples({ answer }: { readonly answer: KnownColumns }) {
  const page = usePageState()
  const { data: node } = useNode()
  const { fromMs, toMs } = useSpan(answer)
  if (!answer.isReady || !answer.grid || answer.isOld) return null
  const zone = page.url.tz ?? 'utc'
  const oldestMs = node?.store.oldestMs ?? undefined
  return (
    <Empty
      fact={`No samples between ${formatDateTime(fromMs, zone)} and ${formatDateTime(toMs, zone)} ${zoneName(zone, toMs)}.`}
    >
      {oldestMs === undefined ? (
        'Nothing older than the last minutes is kept here.'
      ) : (
        <>
          Data begins in the hour from {formatDateTime(oldestMs, zone)}.{' '}
          <button
            type="button"
            className="button"
            onClick={() => page.zoom(oldestMs, oldestMs + Math.max(HOUR_MS, toMs - fromMs))}
          >
            Go to first data
          </button>
        </>
      )}{' '}
      {!page.isLive && (
        <button type="button" className="button" onClick={() => page.follow(DEFAULT_WINDOW_MS)}>
          Back to live
        </button>
      )}
    </Empty>
  )
}
