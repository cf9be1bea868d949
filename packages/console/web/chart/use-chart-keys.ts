import { type KeyboardEvent, useState } from 'react'
import { formatIn, joinUnit } from '../format/number.ts'
import { formatClock } from '../format/time.ts'
import { hoverStore } from '../state/cursor.ts'
import type { PageState } from '../state/time-window.ts'
import type { ChartModel } from './chart-model.ts'
import { busiest } from './heat.ts'
import { readingOf } from './readouts.ts'

const STRIDE_COUNT = 10
/** Limit of lines that are announced after a move of the cursor. */
const SAID_COUNT = 4
const ZOOM_FACTOR = 2
const ZOOM_MIN_MS = 2_000

interface ChartKeys {
  readonly onKeyDown: (event: KeyboardEvent) => void
  /** The text for screen readers after a move of the cursor. */
  readonly announced: string
  readonly unpin: () => void
}

/**
 * Keys of a focused chart: arrows move the cursor, Enter pins, Escape lets go, plus and minus zoom, page keys move the
 * window, T shows the table.
 */
export function useChartKeys(options: {
  readonly page: PageState
  readonly model: ChartModel
  readonly onToggleTable: () => void
  readonly onCard: (open: boolean) => void
}): ChartKeys {
  const { page, model, onToggleTable, onCard } = options
  const [announced, setAnnounced] = useState('')
  const unpin = (): void => {
    onCard(false)
    page.change({ atMs: undefined }, 'replace')
    hoverStore.set(null)
  }
  const move = (samples: number): void => {
    const { times, stepMs, fromMs, toMs } = model.plot
    const newestMs = times[model.newest] ?? toMs
    const now = hoverStore.get() ?? page.url.atMs
    const wanted = now === undefined ? newestMs : now + samples * stepMs
    const timeMs = Math.max(Math.ceil(fromMs / stepMs) * stepMs, Math.min(newestMs, wanted))
    hoverStore.set(timeMs)
    setAnnounced(sayAt(model, timeMs))
  }
  const zoom = (factor: number): void => {
    const { fromMs, toMs } = model.plot
    const centre = hoverStore.get() ?? page.url.atMs ?? (fromMs + toMs) / 2
    const share = (centre - fromMs) / (toMs - fromMs)
    const length = Math.max(ZOOM_MIN_MS, (toMs - fromMs) * factor)
    page.zoom(centre - share * length, centre + (1 - share) * length)
  }
  const pan = (windows: number): void => {
    const { fromMs, toMs } = model.plot
    const byMs = windows * (toMs - fromMs)
    page.zoom(fromMs + byMs, toMs + byMs)
  }
  const actions = new Map(
    Object.entries<(event: KeyboardEvent) => void>({
      ArrowLeft: (event) => move(event.shiftKey ? -STRIDE_COUNT : -1),
      ArrowRight: (event) => move(event.shiftKey ? STRIDE_COUNT : 1),
      Enter: () => {
        const timeMs = hoverStore.get() ?? page.url.atMs ?? model.plot.times[model.newest]
        if (timeMs === undefined) return
        page.change({ atMs: timeMs }, 'replace')
        onCard(true)
      },
      Escape: unpin,
      t: onToggleTable,
      PageUp: () => pan(-1 / 2),
      PageDown: () => pan(1 / 2),
      '+': () => zoom(1 / ZOOM_FACTOR),
      '=': () => zoom(1 / ZOOM_FACTOR),
      '-': () => zoom(ZOOM_FACTOR),
      '−': () => zoom(ZOOM_FACTOR),
    }),
  )
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLButtonElement) return
    const action = actions.get(event.key.length === 1 ? event.key.toLowerCase() : event.key)
    if (!action) return
    event.preventDefault()
    event.stopPropagation()
    action(event)
  }
  return { onKeyDown, announced, unpin }
}

function sayAt(model: ChartModel, timeMs: number): string {
  const { times, stepMs, lines, zone, heat } = model.plot
  const at = Math.round((timeMs - (times[0] ?? 0)) / stepMs)
  const isCounted = heat !== undefined && lines.some((line) => !Number.isNaN(readingOf(line, at)))
  const counted = isCounted ? busiest(lines, at, SAID_COUNT) : []
  if (isCounted && counted.length === 0) return `${formatClock(timeMs, zone)}: nothing counted`
  const values = (isCounted ? counted : lines.slice(0, heat ? 1 : SAID_COUNT)).map(
    ({ label, values: column }) =>
      `${label} ${joinUnit(formatIn(model.unit, column[at] ?? Number.NaN), model.unit.label)}`,
  )
  return `${formatClock(timeMs, zone)}: ${values.join(', ').replaceAll('–', 'no sample')}`
}
