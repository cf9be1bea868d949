import type { EventLane } from '@sonde/sdk/api'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { LaneSamples } from '../../api/event-samples.ts'
import { TableBox } from '../../components/table-box.tsx'
import { countOf, formatIn, joinUnit } from '../../format/number.ts'
import { formatDuration, zoneName } from '../../format/time.ts'
import { useCursor } from '../../state/cursor.ts'
import { useStore } from '../../state/store.ts'
import { usePageState } from '../../state/time-window.ts'
import { useSeldom } from '../../state/use-seldom.ts'
import { formatAfter, formatMoment } from './event-time.ts'
import { readLane } from './lane-reading.ts'
import { laneScale } from './lane-scale.ts'
import { type SampleRow, sampleRows } from './sample-rows.ts'
import type { EventView } from './use-event-view.ts'
import type { Samples } from './use-samples.ts'

const ROW_PX = 24
const BOX_PX = 260
/** Unit: milliseconds. */
const TABLE_EVERY_MS = 200

/** The samples of one lane in view as a table: for whoever reads rather than looks. Only the rows in view are made. */
export function SamplesTable({
  lanes,
  chosen,
  view,
  samples,
  startMs,
  onChoose,
}: {
  readonly lanes: readonly EventLane[]
  readonly chosen: EventLane
  readonly view: EventView
  readonly samples: Samples
  readonly startMs: number
  readonly onChoose: (key: string) => void
}) {
  const page = usePageState()
  const zone = page.url.tz ?? 'utc'
  // A table that moves is not read: it follows once in a while.
  const shown = useSeldom(useStore(view.stage.view), TABLE_EVERY_MS, chosen.key)
  const revision = useStore(samples.revision)
  const here = samples.cache.samplesFor(chosen.key, shown)
  const [scrolledPx, setScrolledPx] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the cache says by its revision that it holds more
  const rows = useMemo(() => sampleRows(chosen, here, shown), [chosen, here, shown, revision])
  const { unit } = laneScale(chosen, here, shown)
  const cursorMs = useCursor(page.url.atMs)
  const reading = cursorMs === null ? undefined : readLane(chosen, here, cursorMs)
  const current =
    reading && 'at' in reading ? rows.findIndex((row) => row.kind === 'point' && row.at === reading.at) : -1
  const box = useScrollTo(current)
  const first = Math.max(0, Math.floor(scrolledPx / ROW_PX) - 4)
  const last = Math.min(rows.length, first + Math.ceil(BOX_PX / ROW_PX) + 8)
  const isExact = here?.isExact ?? true
  const scaleMs = Math.max(Math.abs(shown.fromMs - startMs), Math.abs(shown.toMs - startMs))
  return (
    <section className="panel samples" aria-labelledby="samples-table">
      <header className="panel-head has-line is-centred">
        <h2 id="samples-table" className="panel-title">
          Samples
        </h2>
        <label className="field">
          <span className="visually-hidden">Signal</span>
          <select className="input" value={chosen.key} onChange={(event) => onChoose(event.currentTarget.value)}>
            {lanes.map(({ key, name, deviceName }) => (
              <option key={key} value={key}>
                {deviceName ? `${name}, ${deviceName}` : name}
              </option>
            ))}
          </select>
        </label>
        <span className="panel-caption">
          {isExact
            ? `${countOf(rows.filter(({ kind }) => kind === 'point').length, 'sample')} in view`
            : `least and greatest of ${countOf(rows.length, 'stretch', 'stretches')}; zoom in for single samples`}
        </span>
      </header>
      <div ref={box}>
        <TableBox label={`Samples of ${chosen.name}`} heightPx={BOX_PX} onScroll={setScrolledPx}>
          {/* The rows that are not drawn leave their room above and below. */}
          <div style={{ paddingTop: first * ROW_PX, paddingBottom: (rows.length - last) * ROW_PX }}>
            <table className="table is-compact has-first-fixed samples-table" aria-rowcount={rows.length + 1}>
              <thead>
                <tr>
                  <th scope="col">Time, {zoneName(zone, startMs)}</th>
                  <th scope="col" className="is-number">
                    After start
                  </th>
                  <th scope="col" className="is-number">
                    {isExact ? 'Value' : 'Least'} {unit.label.trim()}
                  </th>
                  {!isExact && (
                    <th scope="col" className="is-number">
                      Greatest {unit.label.trim()}
                    </th>
                  )}
                </tr>
              </thead>
              <tbody>
                {rows.slice(first, last).map((row, order) => (
                  <Row
                    key={row.kind === 'gap' ? `gap ${row.fromMs}` : row.at}
                    row={row}
                    rowIndex={first + order + 2}
                    isCurrent={first + order === current}
                    words={{
                      time: (ms) => formatMoment(ms, zone, chosen.resolutionMs),
                      after: (ms) => formatAfter(ms - startMs, chosen.resolutionMs, scaleMs),
                      value: (raw) => joinUnit(formatIn(unit, raw), ''),
                    }}
                    samples={here}
                  />
                ))}
              </tbody>
            </table>
          </div>
        </TableBox>
      </div>
    </section>
  )
}

function Row({
  row,
  rowIndex,
  isCurrent,
  words,
  samples,
}: {
  readonly row: SampleRow
  readonly rowIndex: number
  readonly isCurrent: boolean
  readonly words: {
    readonly time: (ms: number) => string
    readonly after: (ms: number) => string
    readonly value: (raw: number) => string
  }
  readonly samples: LaneSamples | undefined
}) {
  if (row.kind === 'gap')
    return (
      <tr className="samples-gap" aria-rowindex={rowIndex}>
        <td colSpan={samples?.isExact === false ? 4 : 3}>
          {row.samples > 0 ? `${countOf(row.samples, 'sample')} missing, ` : 'No sample for '}
          {formatDuration(row.toMs - row.fromMs)}. Nothing is joined over it.
        </td>
      </tr>
    )
  const timeMs = samples?.times[row.at] ?? 0
  return (
    <tr aria-rowindex={rowIndex} className={isCurrent ? 'is-current' : undefined} aria-current={isCurrent || undefined}>
      <th scope="row" className="num">
        {words.time(timeMs)}
      </th>
      <td className="is-number num">{words.after(timeMs)}</td>
      <td className="is-number num">{words.value(samples?.lows[row.at] ?? Number.NaN)}</td>
      {samples?.isExact === false && (
        <td className="is-number num">{words.value(samples.highs[row.at] ?? Number.NaN)}</td>
      )}
    </tr>
  )
}

/** Keeps the row at the cursor in the box. */
function useScrollTo(row: number): React.RefObject<HTMLDivElement | null> {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const scrolling = box.current?.querySelector('.table-box')
    if (!scrolling || row < 0) return
    const topPx = row * ROW_PX
    if (topPx < scrolling.scrollTop + ROW_PX || topPx > scrolling.scrollTop + BOX_PX - 3 * ROW_PX)
      scrolling.scrollTop = topPx - BOX_PX / 2
  }, [row])
  return box
}
