import type { EventAnswer } from '@sonde/sdk/api'
import { Choice } from '../../components/choice.tsx'
import { FilterInput } from '../../components/filter-input.tsx'
import { countText, groupThousands } from '../../format/number.ts'
import { formatDuration } from '../../format/time.ts'
import { hoverStore } from '../../state/cursor.ts'
import { usePageState } from '../../state/time-window.ts'
import { useStore } from '../../state/value-store.ts'
import { kindOptions } from './lane-kinds.ts'
import type { EventView } from './use-event-view.ts'
import { lengthOf, zoomSpan } from './view-span.ts'

const ZOOM_FACTOR = 2

const ORDERS = [
  ['By place', undefined],
  ['By first change', 'change'],
] as const

/** Counts of shown signals, with the controls to filter, sort and zoom. `plotPx` is the width of the plots. */
export function LanesHead({
  view,
  answer,
  plotPx,
  titleId,
  isByChange,
}: {
  readonly view: EventView
  readonly answer: EventAnswer
  readonly plotPx: number
  readonly titleId: string
  readonly isByChange: boolean
}) {
  const page = usePageState()
  const shown = useStore(view.stage.view)
  const { kind = '' } = page.url
  return (
    <>
      <header className="panel-head is-centred">
        <h2 id={titleId} className="panel-title">
          Signals
        </h2>
        <span className="panel-caption num">
          {shownWords(answer)} · {formatDuration(lengthOf(shown))} of {formatDuration(lengthOf(view.bounds))}
          {answer.event.endMs === undefined ? ' recorded so far' : ''} ·{' '}
          {formatDuration(lengthOf(shown) / Math.max(1, plotPx))} a pixel
        </span>
      </header>
      <div className="lanes-tools">
        <FilterInput label="Find among all signals" />
        <Choice
          label="Kind"
          all="All kinds"
          value={kind}
          options={kindOptions(answer.kinds, kind)}
          onChange={(value) => page.change({ kind: value }, 'replace')}
        />
        <fieldset className="segments" aria-label="Order of the lanes">
          {ORDERS.map(([label, sort]) => (
            <button
              key={label}
              type="button"
              className="segment"
              aria-pressed={isByChange === (sort === 'change')}
              onClick={() => page.change({ sort }, 'replace')}
            >
              {label}
            </button>
          ))}
        </fieldset>
        <Zoom view={view} />
      </div>
    </>
  )
}

function Zoom({ view }: { readonly view: EventView }) {
  const page = usePageState()
  const zoom = (factor: number): void => {
    const shown = view.stage.view.get()
    const atMs = hoverStore.get() ?? page.url.atMs ?? (shown.fromMs + shown.toMs) / 2
    view.show(zoomSpan(shown, view.bounds, atMs, factor), 'rest')
  }
  return (
    <fieldset className="segments" aria-label="Zoom">
      <button type="button" className="segment" aria-label="Zoom out" onClick={() => zoom(ZOOM_FACTOR)}>
        −
      </button>
      <button type="button" className="segment" aria-label="Zoom in" onClick={() => zoom(1 / ZOOM_FACTOR)}>
        +
      </button>
      <button type="button" className="segment" disabled={view.isWhole} onClick={view.reset}>
        All
      </button>
    </fieldset>
  )
}

/** How many signals are shown, and how many more are stored. */
function shownWords({ lanes, lanesLeftOut, lanesKept }: EventAnswer): string {
  const shown = countText(lanes.length, 'signal')
  if (lanesKept <= lanes.length) return shown
  const matching = lanes.length + lanesLeftOut
  const found = matching < lanesKept ? ` of ${groupThousands(String(matching))} that match` : ''
  return `${shown}${found}, ${groupThousands(String(lanesKept))} kept`
}
