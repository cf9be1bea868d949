import type { EventAnswer } from '@sonde/sdk/api'
import { useMemo, useState } from 'react'
import { Link } from 'wouter'
import { type DeviceInfo, useDevices } from '../../api/devices.ts'
import { eventFileAddress, useEvent } from '../../api/events.ts'
import { useToldSecond } from '../../api/stale.ts'
import { useWidth } from '../../chart/use-width.ts'
import { Outlines } from '../../components/answer-state.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Empty } from '../../components/empty.tsx'
import { Facts } from '../../components/facts.tsx'
import { Headline } from '../../components/headline.tsx'
import { Icon } from '../../components/icon.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { SimulatedMark } from '../../components/simulated-mark.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import { devicePath, deviceTitle } from '../../devices/device.ts'
import { useShowsWindow } from '../../state/own-window.ts'
import { usePageState } from '../../state/time-window.ts'
import { eventDevice } from '../incidents/event-device.ts'
import { deviceWords, eventState } from '../incidents/event-words.ts'
import { usePageTitle } from '../use-page-title.ts'
import { useRested } from '../use-rested.ts'
import { eventFacts } from './event-facts.ts'
import { EventParts } from './event-parts.tsx'
import { LanesPanel } from './lanes-panel.tsx'
import { LeftOutPanel } from './left-out-panel.tsx'
import { onsetMiddleMs, uncertaintyOf } from './onset.ts'
import { NOTHING_CHANGED, type OrderWords, orderWords, type RankedOnset, rankOnsets } from './onset-order.ts'
import { OnsetPanel } from './onset-panel.tsx'
import { SamplesTable } from './samples-table.tsx'
import { useEventView } from './use-event-view.ts'
import { type LaneOnsets, useOnsets } from './use-onsets.ts'
import { useSamples } from './use-samples.ts'
import type { Span } from './view-span.ts'

/** Pause after the last keystroke before a filter is sent. Unit: milliseconds. */
const REST_MS = 250

/** An open event may still receive later changes. */
const SO_FAR = 'The event is still open; this covers the recorded part.'

const TOO_FEW = 'Too few samples were taken before the event to know the usual values.'
/** A later part of an event starts where the previous part was cut. */
const NO_BEFORE = 'The earlier part has the samples before it, so the usual values are not known here.'

/** The page of an event: which signals changed, in which order, sample by sample. */
export function EventPage({ id, children }: { readonly id: string; readonly children?: React.ReactNode }) {
  const page = usePageState()
  const { data, error, refresh } = useEvent(id, {
    find: useRested(page.url.q ?? '', REST_MS),
    kind: page.url.kind ?? '',
  })
  const { data: devices } = useDevices()
  const known = data && eventDevice(data.event, devices?.devices ?? [])
  usePageTitle(
    data ? `${data.event.rule} on ${known ? deviceTitle(known) : deviceWords(data.event.device)}` : `Event ${id}`,
  )
  if (data)
    return (
      <>
        <Known answer={data} />
        {children}
      </>
    )
  const parent = { label: 'Incidents', href: page.hrefTo('/incidents') }
  if (!error)
    return (
      <>
        <PageHead title={`Event ${id}`} parent={parent} />
        <Outlines panels={3} waitsFor="the event" />
      </>
    )
  return (
    <>
      <PageHead title={`Event ${id}`} parent={parent} />
      <Empty icon="critical" fact={error.status === 404 ? `There is no event ${id}.` : 'The event did not come.'}>
        {error.status === 404 ? 'It made room for later ones, or never was. ' : `${error.message} `}
        {error.status === 404 ? (
          <Link href={parent.href}>Incidents that are kept</Link>
        ) : (
          <button type="button" className="button" onClick={refresh}>
            Try now
          </button>
        )}
      </Empty>
    </>
  )
}

function Known({ answer }: { readonly answer: EventAnswer }) {
  const { event, lanes } = answer
  const page = usePageState()
  const nowMs = useToldSecond()
  const { data: devices } = useDevices()
  const device = eventDevice(event, devices?.devices ?? [])
  const zone = page.url.tz ?? 'utc'
  const place = headlineDevice(event.device, device, page.hrefTo)
  useShowsWindow(event.window?.fromMs ?? event.startMs, event.window?.toMs ?? event.endMs ?? nowMs)
  const gapCount = lanes.reduce((sum, lane) => sum + lane.gaps.length, 0)
  return (
    <>
      <PageHead
        title={event.rule}
        parent={{ label: 'Incidents', href: page.hrefTo('/incidents') }}
        note={
          <span className="event-note">
            <StateMark {...eventState(event)} /> <SimulatedMark of={{ simulated: event.isSimulated }} />
            <EventParts answer={answer} />
          </span>
        }
      >
        {event.endMs !== undefined && event.sizeBytes > 0 && (
          <a className="button" href={eventFileAddress(answer.node, event.id)} download>
            <Icon name="download" /> Samples
          </a>
        )}
        <CopyButton label="Copy link" icon="link" text={() => location.href} />
      </PageHead>
      {event.window && answer.lanesKept > 0 ? (
        <Kept
          answer={answer}
          window={event.window}
          facts={
            <Facts
              label="The event"
              facts={eventFacts(event, place, { nowMs, zone, signalCount: answer.lanesKept, gapCount })}
            />
          }
        />
      ) : (
        <>
          <Facts
            label="The event"
            facts={eventFacts(event, place, { nowMs, zone, signalCount: answer.lanesKept, gapCount })}
          />
          <Empty fact="No sample of this event is kept.">
            {event.leftOut > 0
              ? 'A limit or a full disk left them all out; the log has its start and its end.'
              : event.endMs === undefined
                ? 'The first ones come when the window is read.'
                : 'The log has its start and its end.'}
          </Empty>
        </>
      )}
    </>
  )
}

function headlineDevice(name: string, device: DeviceInfo | undefined, hrefTo: (path: string) => string) {
  if (!device) return { title: deviceWords(name), href: undefined, note: '' }
  const title = deviceTitle(device)
  return { title, href: hrefTo(devicePath(device)), note: title === device.name ? '' : device.name }
}

function Kept({
  answer,
  window,
  facts,
}: {
  readonly answer: EventAnswer
  readonly window: Span
  readonly facts: React.ReactNode
}) {
  const { event, lanes } = answer
  const { fromMs, toMs } = window
  const bounds = useMemo(() => ({ fromMs, toMs }), [fromMs, toMs])
  const view = useEventView(bounds)
  const [plot, setPlot] = useState<HTMLElement | null>(null)
  const plotPx = useWidth(plot)
  const samples = useSamples(answer, view, plotPx)
  const onsets = useOnsets(answer, samples, bounds)
  const ranked = useMemo(() => rankedOf(answer, onsets), [answer, onsets])
  const [key, setKey] = useState<string>()
  const chosen = lanes.find((lane) => lane.key === key) ?? lanes.find(({ isOfRule }) => isOfRule) ?? lanes[0]
  const held = useMemo(() => ({ fromMs: event.startMs, toMs: event.endMs ?? toMs }), [event.startMs, event.endMs, toMs])
  const hasBefore = fromMs < event.startMs
  const isAwaited = onsets.size === 0 && samples.error === undefined && lanes.length > 0 && hasBefore
  const hasUsual = [...onsets.values()].some(({ usual }) => usual !== undefined)
  const unknown = hasUsual ? undefined : hasBefore ? TOO_FEW : NO_BEFORE
  const words = headWords(answer, ranked, { hasBefore, hasUsual, isKnown: onsets.size > 0 })
  const show = ({ lane, onset }: RankedOnset): void => {
    setKey(lane.key)
    const roomMs = Math.max(uncertaintyOf(onset) * 12, lane.resolutionMs * 20)
    view.show({ fromMs: onsetMiddleMs(onset) - roomMs, toMs: onsetMiddleMs(onset) + roomMs }, 'push')
  }
  return (
    <>
      {words ? (
        <Headline text={{ tone: 'calm', ...words }} />
      ) : (
        isAwaited && <div className="headline is-awaited" aria-busy />
      )}
      {facts}
      {samples.error && (
        <Empty icon="critical" fact="The samples did not come.">
          {samples.error.message}{' '}
          <button type="button" className="button" onClick={samples.retry}>
            Try now
          </button>
        </Empty>
      )}
      <div className="event-columns">
        <div className="event-main">
          <LanesPanel
            answer={answer}
            view={view}
            samples={samples}
            onsets={onsets}
            held={held}
            chosen={chosen}
            onChoose={setKey}
            onTable={focusTable}
            plotPx={plotPx}
            onPlot={setPlot}
          />
          <LeftOutPanel answer={answer} />
          {chosen && (
            <SamplesTable
              lanes={lanes}
              chosen={chosen}
              view={view}
              samples={samples}
              startMs={event.startMs}
              onChoose={setKey}
            />
          )}
        </div>
        <OnsetPanel
          ranked={ranked}
          laneCount={lanes.length}
          startMs={event.startMs}
          isAwaited={isAwaited}
          nothing={nothingWords(samples.error !== undefined, lanes.length, unknown)}
          onShow={show}
        />
      </div>
    </>
  )
}

/** The headline; undefined if nothing is known yet. */
function headWords(
  { event, lanes, lanesKept }: EventAnswer,
  ranked: readonly RankedOnset[],
  { hasBefore, hasUsual, isKnown }: Readonly<Record<'hasBefore' | 'hasUsual' | 'isKnown', boolean>>,
): OrderWords | undefined {
  if (!hasBefore) return { sentence: 'What changed first is in the first part of this event.', facts: NO_BEFORE }
  if (!isKnown) return undefined
  if (!hasUsual && lanes.length > 0) return { sentence: 'The first change is not known.', facts: TOO_FEW }
  const words = orderWords(ranked, lanes.length, event.startMs, lanesKept)
  return event.endMs === undefined ? { ...words, facts: `${SO_FAR} ${words.facts}` } : words
}

/** Why no change is shown. */
function nothingWords(isFailed: boolean, laneCount: number, unknown: string | undefined): string {
  if (isFailed) return 'Not known without samples.'
  if (laneCount === 0) return 'No signal matches.'
  return unknown ?? NOTHING_CHANGED
}

function rankedOf({ lanes }: EventAnswer, onsets: LaneOnsets): readonly RankedOnset[] {
  return rankOnsets(
    lanes.flatMap((lane) => {
      const onset = onsets.get(lane.key)?.onset
      return onset ? [{ lane, onset }] : []
    }),
  )
}

/** The table is always on the page, so the key moves the focus to it. */
function focusTable(): void {
  const box = document.querySelector('.samples-table')?.closest<HTMLElement>('.table-box')
  box?.focus()
  box?.scrollIntoView({ block: 'nearest' })
}
