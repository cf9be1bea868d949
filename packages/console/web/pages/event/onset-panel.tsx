import { formatDuration } from '../../format/time.ts'
import { deviceWords } from '../incidents/event-words.ts'
import { formatAfter } from './event-time.ts'
import { kindPlace, PLACE_SLOTS } from './lane-groups.ts'
import { onsetMiddleMs, uncertaintyOf } from './onset.ts'
import type { RankedOnset } from './onset-order.ts'
import { lengthOf, type Span } from './view-span.ts'

/** Most rows. Later changes are only counted. */
const ROW_LIMIT_COUNT = 16

/** The order of the first changes. Each signal has a track with the span of its change. */
export function OnsetPanel({
  ranked,
  laneCount,
  startMs,
  isAwaited,
  nothing,
  onShow,
}: {
  readonly ranked: readonly RankedOnset[]
  readonly laneCount: number
  readonly startMs: number
  readonly isAwaited: boolean
  /** Why the panel is empty; used only without rows. */
  readonly nothing: string
  /** Shows the change of a lane. */
  readonly onShow: (onset: RankedOnset) => void
}) {
  const rows = ranked.slice(0, ROW_LIMIT_COUNT)
  const track = trackOf(rows, startMs)
  return (
    <section className="panel onsets" aria-labelledby="onset-panel" aria-busy={isAwaited}>
      <header className="panel-head has-line">
        <h2 id="onset-panel" className="panel-title">
          Order of first change
        </h2>
        <span className="panel-caption num">
          {ranked.length} of {laneCount}
        </span>
      </header>
      {rows.length === 0 ? (
        <p className="panel-note">{isAwaited ? 'Looking for changes.' : nothing}</p>
      ) : (
        <ol className="onset-list">
          {rows.map((ranked) => (
            <OnsetRow key={ranked.lane.key} ranked={ranked} startMs={startMs} track={track} onShow={onShow} />
          ))}
        </ol>
      )}
      <p className="panel-note onset-note">
        {ranked.length > rows.length && `And ${ranked.length - rows.length} more, later. `}
        Measured from the start of the event. Order is not cause; where bars overlap, which was first is not known.
      </p>
    </section>
  )
}

function OnsetRow({
  ranked,
  startMs,
  track,
  onShow,
}: {
  readonly ranked: RankedOnset
  readonly startMs: number
  readonly track: Span
  readonly onShow: (onset: RankedOnset) => void
}) {
  const { lane, onset, rankFirst, rankLast } = ranked
  const uncertainMs = uncertaintyOf(onset)
  const share = (ms: number): number => Math.min(100, Math.max(0, ((ms - track.fromMs) / lengthOf(track)) * 100))
  const left = share(onset.earliestMs)
  const slot = PLACE_SLOTS[kindPlace(lane)]
  return (
    <li className="onset-row">
      <span className="onset-rank num">{rankFirst === rankLast ? rankFirst : `${rankFirst}–${rankLast}`}</span>
      <span className="onset-name">
        <button type="button" className="lane-button" onClick={() => onShow(ranked)}>
          <span className="lane-swatch" style={{ background: `var(--s${slot})` }} aria-hidden="true" />
          <span className="lane-title" title={lane.name}>
            {lane.name}
          </span>
          {lane.isOfRule && <span className="lane-flag" role="img" aria-label="The rule watches it" />}
        </button>
        <span className="lane-note">
          {deviceWords(lane.deviceName)} {onset.isRise ? 'rose' : 'fell'}
        </span>
      </span>
      <span className="onset-track" aria-hidden="true">
        <span className="onset-start" style={{ left: `${share(startMs)}%` }} />
        <span
          className="onset-bar"
          style={{
            left: `${left}%`,
            width: `max(3px, ${share(onset.latestMs) - left}%)`,
            background: `var(--s${slot})`,
          }}
        />
        <span
          className="onset-dot"
          style={{ left: `${share(onsetMiddleMs(onset))}%`, background: `var(--s${slot})` }}
        />
      </span>
      <span className="onset-time num">
        {formatAfter(onsetMiddleMs(onset) - startMs, uncertainMs)}
        <span className="lane-note">± {formatDuration(uncertainMs)}</span>
      </span>
    </li>
  )
}

/** The span of all rows, with padding at both ends. */
function trackOf(rows: readonly RankedOnset[], startMs: number): Span {
  const fromMs = Math.min(startMs, ...rows.map(({ onset }) => onset.earliestMs))
  const toMs = Math.max(startMs, ...rows.map(({ onset }) => onset.latestMs))
  const roomMs = Math.max((toMs - fromMs) * 0.06, 0.01)
  return { fromMs: fromMs - roomMs, toMs: toMs + roomMs }
}
