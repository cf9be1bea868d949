import type { EventLane } from '@sonde/sdk/api'
import { useMemo } from 'react'
import { DataTable } from '../../components/data-table.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { countText, formatIn, joinUnit } from '../../format/number.ts'
import { formatDuration, zoneName } from '../../format/time.ts'
import { useCursor } from '../../state/cursor.ts'
import { usePageState } from '../../state/time-window.ts'
import { useSeldom } from '../../state/use-seldom.ts'
import { useStore } from '../../state/value-store.ts'
import { formatAfter, formatMoment } from './event-time.ts'
import { readLane } from './lane-reading.ts'
import { laneScale } from './lane-scale.ts'
import { type SampleRow, sampleRows } from './sample-rows.ts'
import type { EventView } from './use-event-view.ts'
import type { ShownSamples } from './use-samples.ts'

const BOX_PX = 260
/** Unit: milliseconds. */
const TABLE_EVERY_MS = 200

/** The samples of a lane as a table, also for screen readers. Only visible rows are rendered. */
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
  readonly samples: ShownSamples
  readonly startMs: number
  readonly onChoose: (key: string) => void
}) {
  const page = usePageState()
  const zone = page.url.tz ?? 'utc'
  // Nobody can read a moving table, so it is updated only now and then.
  const shown = useSeldom(useStore(view.stage.view), TABLE_EVERY_MS, chosen.key)
  const revision = useStore(samples.revision)
  const here = samples.cache.samplesFor(chosen.key, shown)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the revision changes when the cache holds more
  const rows = useMemo(() => sampleRows(chosen, here, shown), [chosen, here, shown, revision])
  const { unit } = laneScale(chosen, here, shown)
  const cursorMs = useCursor(page.url.atMs)
  const reading = cursorMs === null ? undefined : readLane(chosen, here, cursorMs)
  const current =
    reading && 'at' in reading ? rows.findIndex((row) => row.kind === 'point' && row.at === reading.at) : -1
  const isExact = here?.isExact ?? true
  const scaleMs = Math.max(Math.abs(shown.fromMs - startMs), Math.abs(shown.toMs - startMs))
  const valueColumn = (key: 'lows' | 'highs', head: string): TableColumn<SampleRow> => ({
    key,
    head: `${head} ${unit.label.trim()}`,
    kind: 'number',
    cell: (row) => row.kind === 'point' && joinUnit(formatIn(unit, here?.[key][row.at] ?? Number.NaN), ''),
  })
  const timeAt = (row: SampleRow): number => (row.kind === 'point' ? (here?.times[row.at] ?? 0) : row.fromMs)
  const columns: readonly TableColumn<SampleRow>[] = [
    {
      key: 'time',
      head: `Time, ${zoneName(zone, startMs)}`,
      kind: 'rowHead',
      look: 'num',
      cell: (row) => formatMoment(timeAt(row), zone, chosen.resolutionMs),
    },
    {
      key: 'after',
      head: 'After start',
      kind: 'number',
      cell: (row) => formatAfter(timeAt(row) - startMs, chosen.resolutionMs, scaleMs),
    },
    valueColumn('lows', isExact ? 'Value' : 'Least'),
    ...(isExact ? [] : [valueColumn('highs', 'Greatest')]),
  ]
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
            ? `${countText(rows.filter(({ kind }) => kind === 'point').length, 'sample')} in view`
            : `least and greatest of ${countText(rows.length, 'stretch', 'stretches')}; zoom in for single samples`}
        </span>
      </header>
      <DataTable
        label={`Samples of ${chosen.name}`}
        look="is-compact has-first-fixed samples-table"
        columns={columns}
        rows={rows}
        keyOf={(row) => (row.kind === 'gap' ? `gap ${row.fromMs}` : row.at)}
        rowLook={({ kind }) => (kind === 'gap' ? 'samples-gap' : undefined)}
        spanOf={(row) =>
          row.kind === 'gap' ? { from: 'time', to: isExact ? 'lows' : 'highs', words: gapWords(row) } : undefined
        }
        windowPx={BOX_PX}
        current={current}
      />
    </section>
  )
}

function gapWords({ samples, fromMs, toMs }: Extract<SampleRow, { kind: 'gap' }>): string {
  const missing = samples > 0 ? `${countText(samples, 'sample')} missing, ` : 'No sample for '
  return `${missing}${formatDuration(toMs - fromMs)}. Nothing is joined over it.`
}
