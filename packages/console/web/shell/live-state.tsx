import { useFrameState } from '../api/query-client.ts'
import { useNode } from '../api/resources.ts'
import { Icon } from '../components/icon.tsx'
import { useSpan } from '../components/use-span.ts'
import { formatAge, formatClock, formatCount, formatDuration, formatSpanOfTime, zoneName } from '../format/time.ts'
import { heardMs, useSecond } from '../state/clock.ts'
import { useOwnWindow } from '../state/own-window.ts'
import { DEFAULT_WINDOW_MS, usePageState } from '../state/time-window.ts'
import { arrivalOf } from './arrival.ts'
import { toggleZone } from './use-shortcuts.ts'

/** After this time without an answer the page shows that it waits. Unit: milliseconds. */
const WAITING_AFTER_MS = 1_000
/** A page with a window of its own that ended longer ago shows the past. Unit: milliseconds. */
const PAST_AFTER_MS = 60_000

/** Shows whether the page is live, its lag, and the time. */
export function LiveState() {
  const page = usePageState()
  const nowMs = useSecond()
  const live = useFrameState()
  const node = useNode()
  const own = useOwnWindow()
  const isPast = own !== undefined && own.toMs < nowMs - PAST_AFTER_MS
  const zone = page.url.tz ?? 'utc'
  const { range } = page
  const clock = (
    <>
      <span className={range.kind === 'live' ? 'live-clock num' : 'live-span num'}>
        {range.kind === 'live' ? formatClock(nowMs, zone) : formatSpanOfTime(range.fromMs, range.toMs, zone)}
      </span>
      <button
        type="button"
        className="zone-button"
        aria-label={`Times are ${zoneName(zone, nowMs)}. Show ${zone === 'utc' ? 'local time' : 'UTC'}`}
        onClick={() => toggleZone(page)}
      >
        {zoneName(zone, nowMs)}
      </button>
    </>
  )
  if (!page.isLive) {
    return (
      <div className="live">
        <span className="live-word">Paused</span>
        {clock}
        <button type="button" className="button is-primary" onClick={() => page.follow(DEFAULT_WINDOW_MS)}>
          Back to live
        </button>
      </div>
    )
  }
  // The stream of a hanging server stays open. The stream of a stopped server is closed.
  const isUnreached = live.isOpen !== false && node.failures > 1
  if (live.isOpen === false || isUnreached) {
    return (
      <div className="live is-stale">
        <Icon name="stale" className="is-warning" />
        <span className="live-word">
          {isUnreached ? 'No connection' : `Stopped ${formatAge(nowMs - live.sinceMs)} ago`}
        </span>
        {clock}
      </div>
    )
  }
  const waitedMs = live.awaitedSinceMs === undefined ? 0 : nowMs - live.awaitedSinceMs
  const isFirst = heardMs() === 0 || (live.newestMs === 0 && live.awaitedSinceMs !== undefined)
  const isWaiting = isFirst || live.error !== undefined || waitedMs > WAITING_AFTER_MS
  // Some pages request no samples, and the page of an ended incident stands in the past.
  if (isWaiting || isPast || live.newestMs === 0) {
    const word = isPast ? 'Past' : 'Live'
    return (
      <div className="live">
        <span className={isWaiting || isPast ? 'live-dot is-waiting' : 'live-dot'} aria-hidden="true" />
        <span className="live-word">{isWaiting ? waitingWords(waitedMs) : word}</span>
        {clock}
      </div>
    )
  }
  const lagMs = Math.max(0, nowMs - live.newestMs)
  const arrival = arrivalOf(lagMs, page.stepMs)
  return (
    <div className="live">
      <span className={arrival === 'in time' ? 'live-dot' : 'live-dot is-waiting'} aria-hidden="true" />
      <span className="live-word">{arrival === 'missing' ? 'No sample' : 'Live'}</span>
      <span className="live-lag num">
        {lagMs < 1_000 ? '< 1\u00a0s' : formatAge(lagMs)} {arrival === 'missing' ? 'ago' : 'behind'}
      </span>
      <Grown />
      {clock}
    </div>
  )
}

/** Length of a growing window: `1:20 of 5 min`. */
function Grown() {
  const { range, stepMs } = usePageState()
  const { fromMs, toMs } = useSpan({ range, stepMs })
  if (range.kind !== 'live' || toMs - fromMs >= range.windowMs) return null
  return (
    <span className="live-grown num" title="The window grows from the first sample that is kept.">
      {formatCount(toMs - fromMs)} of {formatDuration(range.windowMs)}
    </span>
  )
}

function waitingWords(waitedMs: number): string {
  return waitedMs > WAITING_AFTER_MS ? `Waiting ${formatAge(waitedMs)}` : 'Waiting'
}
