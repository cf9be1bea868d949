import type { EventAnswer, EventLane } from '@sonde/sdk/api'
import { type KeyboardEvent, useCallback, useEffect, useId, useMemo, useState } from 'react'
import { useWidth } from '../../chart/use-width.ts'
import { Empty } from '../../components/empty.tsx'
import { paletteOf } from '../../components/palette.ts'
import { countText } from '../../format/number.ts'
import { formatDuration } from '../../format/time.ts'
import { hoverStore, useCursor } from '../../state/cursor.ts'
import { useTheme } from '../../state/theme.ts'
import { usePageState } from '../../state/time-window.ts'
import { formatAfter } from './event-time.ts'
import { type LaneGroup, sortLanes } from './lane-groups.ts'
import { LaneCursor, LaneHead } from './lane-head.tsx'
import { laneAction } from './lane-keys.ts'
import { readingWords, readLane } from './lane-reading.ts'
import { type LaneContext, LaneRow } from './lane-row.tsx'
import { laneScale } from './lane-scale.ts'
import { LanesHead } from './lanes-head.tsx'
import type { EventView } from './use-event-view.ts'
import { useLanePointer } from './use-lane-pointer.ts'
import type { LaneOnsets } from './use-onsets.ts'
import type { ShownSamples } from './use-samples.ts'
import { lengthOf, type Span } from './view-span.ts'

/** Width of the names left of the plots, and of the scale in the plots. Unit: CSS pixels. */
const GUTTER_PX = 44
/** Lanes announced to screen readers after the cursor moved. */
const SAID_COUNT = 4
/** Lanes drawn before the visible lanes are known. */
const FIRST_COUNT = 10

interface LanesPanelProps {
  readonly answer: EventAnswer
  readonly view: EventView
  readonly samples: ShownSamples
  readonly onsets: LaneOnsets
  readonly held: Span
  readonly chosen: EventLane | undefined
  readonly onChoose: (key: string) => void
  readonly onTable: () => void
  readonly plotPx: number
  readonly onPlot: (element: HTMLElement | null) => void
}

/** All signals of an event on a shared time axis. */
export function LanesPanel(props: LanesPanelProps) {
  const { answer, view, samples, onsets, held, chosen, onChoose, plotPx, onPlot } = props
  const page = usePageState()
  const [body, setBody] = useState<HTMLElement | null>(null)
  const isByChange = page.url.sort === 'change'
  const groups = useMemo(
    () => sortLanes(answer.lanes, isByChange ? onsets : undefined),
    [answer.lanes, isByChange, onsets],
  )
  const firsts = useMemo(
    () => new Set(groups.flatMap(({ lanes }) => lanes.map(({ key }) => key)).slice(0, FIRST_COUNT)),
    [groups],
  )
  const { event, marks } = answer
  const context = useMemo(
    (): LaneContext => ({
      view,
      samples,
      marks,
      event: event.id,
      held,
      startMs: event.startMs,
      isOpen: event.endMs === undefined,
      widthPx: plotPx,
      gutterPx: GUTTER_PX,
    }),
    [view, samples, marks, event.id, event.startMs, event.endMs, held, plotPx],
  )
  usePalette(view)
  const bodyPx = useWidth(body)
  const plotLeftPx = useLeftOf(body, plotPx, bodyPx)
  const pin = useCallback((atMs: number) => page.change({ atMs }, 'replace'), [page])
  const { marked, ...pointer } = useLanePointer(
    body,
    { leftPx: plotLeftPx + GUTTER_PX, widthPx: plotPx - GUTTER_PX },
    view,
    pin,
  )
  const keys = useLaneKeys(props, groups)
  const titleId = useId()
  const finestMs = answer.lanes.reduce((least, { resolutionMs }) => Math.min(least, resolutionMs), 1_000)
  return (
    <section className="panel lanes" aria-labelledby={titleId}>
      <LanesHead view={view} answer={answer} plotPx={plotPx - GUTTER_PX} titleId={titleId} isByChange={isByChange} />
      {/* biome-ignore lint/a11y/useSemanticElements: lanes are a group with a sentence, not a set of fields */}
      <div
        ref={setBody}
        className="lanes-body"
        role="group"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keys move the cursor and the view
        tabIndex={0}
        aria-roledescription="chart"
        aria-label={sentenceOf(answer, view)}
        onKeyDown={keys.onKeyDown}
        {...pointer}
      >
        <div className="lane-row lane-head">
          <span className="lane-corner">Signal{isByChange ? ', by first change' : ', by place'}</span>
          <div ref={onPlot} className="lane-axis-box">
            <LaneHead context={context} />
          </div>
          <CursorTitle />
        </div>
        {answer.lanes.length === 0 && <NoLane />}
        {groups.map(({ place, title, lanes }) => (
          <section key={place} aria-label={title}>
            <h3 className="lane-group">
              {title}
              <span className="lane-group-count num">{lanes.length > 1 && lanes.length}</span>
            </h3>
            <ul>
              {lanes.map((lane) => (
                <LaneRow
                  key={lane.key}
                  lane={lane}
                  context={context}
                  found={onsets.get(lane.key)}
                  isFirst={firsts.has(lane.key)}
                  isChosen={lane.key === chosen?.key}
                  onChoose={onChoose}
                />
              ))}
            </ul>
          </section>
        ))}
        <div className="lane-over" style={{ left: plotLeftPx, width: plotPx }}>
          <LaneCursor context={context} resolutionMs={finestMs} />
          {marked && <Marked span={marked} context={context} />}
        </div>
        <p className="visually-hidden" aria-live="polite">
          {keys.announced}
        </p>
      </div>
      <p className="lanes-foot">
        <span>Drag to zoom, with Shift to move · Ctrl and wheel zoom at the pointer · click pins the cursor</span>
        <span>
          <kbd>←</kbd> <kbd>→</kbd> one sample · <kbd>[</kbd> <kbd>]</kbd> start, end · <kbd>+</kbd> <kbd>−</kbd> zoom ·{' '}
          <kbd>0</kbd> all · <kbd>t</kbd> table
        </span>
      </p>
    </section>
  )
}

/** Shown if no stored signal matches the filter. */
function NoLane() {
  const page = usePageState()
  return (
    <Empty fact="No signal matches.">
      <button
        type="button"
        className="button"
        onClick={() => page.change({ q: undefined, kind: undefined }, 'replace')}
      >
        Show all signals
      </button>
    </Empty>
  )
}

function CursorTitle() {
  const cursorMs = useCursor(usePageState().url.atMs)
  return <span className="lane-cursor-title">{cursorMs === null ? 'Last in view' : 'At cursor'}</span>
}

function Marked({ span, context }: { readonly span: Span; readonly context: LaneContext }) {
  const shown = context.view.stage.view.get()
  const perMs = (context.widthPx - context.gutterPx) / lengthOf(shown)
  const left = context.gutterPx + (span.fromMs - shown.fromMs) * perMs
  return <div className="lane-marked" style={{ left, width: lengthOf(span) * perMs }} aria-hidden="true" />
}

/** Passes the colours of the theme to the stage. */
function usePalette({ stage }: EventView): void {
  const theme = useTheme()
  useEffect(() => {
    stage.palette = paletteOf(theme)
  }, [stage, theme])
}

/** Distance of the plots from the left edge of the lanes. */
function useLeftOf(body: HTMLElement | null, plotPx: number, bodyPx: number): number {
  const [leftPx, setLeftPx] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a changed width moves the plots
  useEffect(() => {
    const plot = body?.querySelector('.lane-axis-box')
    if (body && plot) setLeftPx(plot.getBoundingClientRect().left - body.getBoundingClientRect().left)
  }, [body, plotPx, bodyPx])
  return leftPx
}

function sentenceOf({ event, lanes }: EventAnswer, { bounds }: EventView): string {
  const gaps = lanes.reduce((sum, lane) => sum + lane.gaps.length, 0)
  return `${countText(lanes.length, 'signal')} around ${event.rule} on ${event.device}, ${formatDuration(lengthOf(bounds))}. ${
    gaps === 0 ? 'No gap' : countText(gaps, 'gap')
  }.`
}

function useLaneKeys(
  { answer, view, samples, chosen, onTable }: LanesPanelProps,
  groups: readonly LaneGroup[],
): { readonly onKeyDown: (event: KeyboardEvent) => void; readonly announced: string } {
  const page = usePageState()
  const [announced, setAnnounced] = useState('')
  const { event } = answer
  const say = (atMs: number): string => {
    const shown = view.stage.view.get()
    const words = groups
      .flatMap(({ lanes }) => lanes)
      .slice(0, SAID_COUNT)
      .map((lane) => {
        const here = samples.cache.samplesFor(lane.key, shown)
        const { unit } = laneScale(lane, here, shown)
        const value = readingWords(readLane(lane, here, atMs), { unit })
        return `${lane.name} ${value} ${unit.label.trim()}`.trim()
      })
    return `${formatAfter(atMs - event.startMs, lengthOf(shown) / 1_000)}: ${words.join(', ').replaceAll('–', 'no sample')}`
  }
  const onKeyDown = (pressed: KeyboardEvent): void => {
    if (pressed.ctrlKey || pressed.metaKey || pressed.altKey) return
    if (pressed.target instanceof HTMLButtonElement && (pressed.key === 'Enter' || pressed.key === ' ')) return
    const shown = view.stage.view.get()
    const atMs = hoverStore.get() ?? page.url.atMs
    const action = laneAction(pressed.key.length === 1 ? pressed.key.toLowerCase() : pressed.key, pressed.shiftKey, {
      view: shown,
      bounds: view.bounds,
      atMs,
      times: (chosen && samples.cache.samplesFor(chosen.key, shown)?.times) ?? new Float64Array(0),
      startMs: event.startMs,
      endMs: event.endMs,
    })
    if (!action) return
    pressed.preventDefault()
    pressed.stopPropagation()
    if (action.kind === 'cursor') {
      if (action.view !== shown) view.show(action.view, 'rest')
      hoverStore.set(action.atMs)
      setAnnounced(say(action.atMs))
    } else if (action.kind === 'view') view.show(action.view, 'rest')
    else if (action.kind === 'pin' && atMs !== undefined) page.change({ atMs }, 'replace')
    else if (action.kind === 'unpin') {
      hoverStore.set(null)
      page.change({ atMs: undefined }, 'replace')
    } else if (action.kind === 'table') onTable()
  }
  return { onKeyDown, announced }
}
