import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'react'
import type { QueryColumns } from '../api/query-client.ts'
import { paletteOf } from '../components/palette.ts'
import { useSpan } from '../components/use-span.ts'
import { hoverStore, useCursor } from '../state/cursor.ts'
import { useTheme } from '../state/theme.ts'
import { type PageState, usePageState } from '../state/time-window.ts'
import { useSeldom } from '../state/use-seldom.ts'
import { ChartCard } from './chart-card.tsx'
import { ChartFlags } from './chart-flags.tsx'
import { ChartHeader } from './chart-header.tsx'
import { type ChartModel, ChartModeller } from './chart-model.ts'
import type { ChartSpec } from './chart-spec.ts'
import { ChartTable } from './chart-table.tsx'
import { Plot } from './plot.ts'
import { queuePlot } from './plot-queue.ts'
import { SavePicture } from './save-picture.tsx'
import { useChartKeys } from './use-chart-keys.ts'
import { useIsSeen } from './use-is-seen.ts'
import { useWidth } from './use-width.ts'

/** Height of a plot with its axis, in CSS pixels. */
const CHART_HEIGHT_PX = 164
/** A chart that is scrolled out is drawn at most this often. Unit: milliseconds. */
const UNSEEN_EVERY_MS = 1_000

/**
 * Height of a lane with its note below its name, height of one of many lanes with its note behind its name, and height
 * of the parts above and below all lanes. Unit: CSS pixels.
 */
const LANE_PX = 32
const LOW_LANE_PX = 24
const AROUND_PX = 32
/** More lanes than this are low. */
const LOW_FROM_COUNT = 5

/** Height of one bin of a heat strip, and of all bins at most. Unit: CSS pixels. */
const BIN_PX = 11
const ALL_BINS_PX = 600

/** Many lanes or bins make a chart higher. */
function heightOf({ scale, members }: ChartSpec): number {
  if (scale === 'heat') return Math.max(CHART_HEIGHT_PX, AROUND_PX + Math.min(ALL_BINS_PX, BIN_PX * members.length))
  if (scale !== 'lanes') return CHART_HEIGHT_PX
  const lanePx = members.length > LOW_FROM_COUNT ? LOW_LANE_PX : LANE_PX
  return Math.max(CHART_HEIGHT_PX, AROUND_PX + lanePx * members.length)
}

interface ChartProps {
  readonly spec: ChartSpec
  /** The answer with the grid of the members. */
  readonly answer: QueryColumns
  readonly heightPx?: number
  /** Id of the heading above charts whose titles stand elsewhere on the page too. */
  readonly headingId?: string
  /** Least room at the right end. Unit: CSS pixels. */
  readonly endPx?: number
  /** A line below the chart. */
  readonly note?: string
  /** Takes the chart as PNG, where it can be saved. */
  readonly onSave?: (picture: Blob) => void
}

/** The one chart of the page. */
export function Chart(props: ChartProps) {
  const { heightPx = heightOf(props.spec), headingId = '', endPx, note, onSave } = props
  const page = usePageState()
  const [section, setSection] = useState<HTMLElement | null>(null)
  const [host, setHost] = useState<HTMLDivElement | null>(null)
  const widthPx = useWidth(host)
  const [isTable, setTable] = useState(false)
  const [isCardOpen, setCardOpen] = useState(false)
  const shown = useShown(props, section)
  const { spec, answer } = shown
  const model = useChartModel(shown, page, endPx)
  const plot = usePlot(host, { widthPx, heightPx }, model, page, () => setCardOpen(true))
  const keys = useChartKeys({
    page,
    model,
    onToggleTable: () => setTable((before) => !before),
    onCard: setCardOpen,
  })
  const titleId = useId()
  return (
    <section
      ref={setSection}
      className={answer.isOld ? 'panel chart is-old' : 'panel chart'}
      aria-labelledby={`${titleId} ${headingId}`.trim()}
    >
      <ChartHeader spec={spec} model={model} titleId={titleId}>
        {onSave && <SavePicture spec={spec} model={model} plot={plot} onSave={onSave} />}
      </ChartHeader>
      {/* biome-ignore lint/a11y/useSemanticElements: a chart is a group with a sentence, not a set of fields */}
      <div
        className="chart-group"
        role="group"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys move the cursor over the samples
        tabIndex={0}
        aria-roledescription="chart"
        aria-label={model.sentence}
        onKeyDown={keys.onKeyDown}
      >
        {isTable ? (
          <ChartTable spec={spec} model={model} heightPx={heightPx} />
        ) : (
          <div ref={setHost} className="chart-plot" style={{ height: heightPx }} />
        )}
        {!isTable && plot && model.plot.marks.length > 0 && <ChartFlags model={model} plot={plot} />}
        {isCardOpen && !isTable && plot && page.url.atMs !== undefined && (
          <ChartCard spec={spec} model={model} plot={plot} onClose={() => keys.unpin()} />
        )}
        <p className="visually-hidden" aria-live="polite">
          {keys.announced}
        </p>
      </div>
      {note && <p className="chart-note">{note}</p>}
    </section>
  )
}

/** The members of a chart, and its time span. */
interface Shown {
  readonly spec: ChartSpec
  readonly answer: QueryColumns
  readonly fromMs: number
  readonly toMs: number
}

/** The newest, or that of about the last second where nobody sees the chart and its samples come faster. */
function useShown({ spec, answer }: ChartProps, section: HTMLElement | null): Shown {
  const isSeen = useIsSeen(section)
  // Each chart has its own phase, so that not all are drawn at the same time.
  const [everyMs] = useState(() => UNSEEN_EVERY_MS * (1 + Math.random() / 2))
  const { fromMs, toMs } = useSpan(answer)
  const newest = useMemo(() => ({ spec, answer, fromMs, toMs }), [spec, answer, fromMs, toMs])
  const isSlow = !isSeen && answer.range.kind === 'live' && answer.stepMs < UNSEEN_EVERY_MS
  const kind = `${spec.id} ${answer.stepMs} ${JSON.stringify(answer.range)}`
  return useSeldom(newest, isSlow ? everyMs : 0, kind)
}

function useChartModel({ spec, answer, fromMs, toMs }: Shown, page: PageState, endPx = 0): ChartModel {
  const [modeller] = useState(() => new ChartModeller())
  const { lit, view, tz } = page.url
  return useMemo(
    () =>
      modeller.model(spec, {
        times: answer.grid?.times ?? new Float64Array(0),
        firstIndex: answer.grid?.firstIndex ?? 0,
        stepMs: answer.stepMs,
        fromMs,
        toMs,
        isLive: answer.range.kind === 'live',
        isGrowing: answer.range.kind === 'live' && toMs - fromMs < answer.range.windowMs,
        isKnown: answer.grid !== undefined && spec.isAwaited !== true,
        zone: tz ?? 'utc',
        mode: view ?? 'herd',
        pinned: new Set(lit),
        endPx,
      }),
    [modeller, spec, answer, fromMs, toMs, tz, view, lit, endPx],
  )
}

/** Keeps one plot in the host and draws every new model. */
function usePlot(
  host: HTMLDivElement | null,
  size: { readonly widthPx: number; readonly heightPx: number },
  model: ChartModel,
  page: PageState,
  onCard: () => void,
): Plot | undefined {
  const palette = paletteOf(useTheme())
  const [plot, setPlot] = useState<Plot>()
  const latest = useRef({ page, onCard, model, palette, size })
  latest.current = { page, onCard, model, palette, size }
  const cursorMs = useCursor(page.url.atMs)

  const { widthPx: width, heightPx: height } = size
  const isReady = host !== null && width > 0
  useLayoutEffect(() => {
    if (!isReady) return
    let created: Plot | undefined
    // A plot is made once for its host, from the current state; the next effect draws changes.
    const leave = queuePlot(() => {
      const { model, palette, size } = latest.current
      created = new Plot(host, { width: size.widthPx, height: size.heightPx }, model.plot, palette, {
        onHover: (timeMs) => hoverStore.set(timeMs),
        onClick: (timeMs) => {
          latest.current.page.change({ atMs: timeMs }, 'replace')
          latest.current.onCard()
        },
        onZoom: (fromMs, toMs) => latest.current.page.zoom(fromMs, toMs),
      })
      setPlot(created)
    })
    return () => {
      leave()
      created?.destroy()
      setPlot(undefined)
    }
  }, [host, isReady])
  useLayoutEffect(() => {
    if (plot && width > 0) plot.draw(model.plot, { width, height }, palette)
  }, [plot, model, palette, width, height])
  useEffect(() => plot?.showCursor(cursorMs), [plot, cursorMs])
  return plot
}
