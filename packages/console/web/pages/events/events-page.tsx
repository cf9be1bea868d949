import type { EventsAnswer } from '@sonde/sdk/api'
import { useMemo } from 'react'
import { Link } from 'wouter'
import { useDevices } from '../../api/devices.ts'
import { EVENTS_COUNTED, retryEvents, useEvents } from '../../api/events.ts'
import { useEventsStream } from '../../api/events-stream.ts'
import type { FrameRange } from '../../api/frame.ts'
import { useTense, useToldSecond } from '../../api/stale.ts'
import { Outlines } from '../../components/answer-state.tsx'
import { Banner } from '../../components/banner.tsx'
import { Empty } from '../../components/empty.tsx'
import { PanelBoundary } from '../../components/error-boundary.tsx'
import { Headline } from '../../components/headline.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { Unanswered } from '../../components/unanswered.tsx'
import { allHints } from '../../devices/moment-hints.ts'
import { countText } from '../../format/number.ts'
import { usePageState } from '../../state/time-window.ts'
import { HintsPanel } from '../node/hints-panel.tsx'
import { useMoment } from '../use-moment.ts'
import { useMomentHints } from '../use-moment-hints.ts'
import { usePageTitle } from '../use-page-title.ts'
import { eventsRequest, isFiltered, windowOf } from './event-filters.ts'
import { EventFilters } from './event-filters-bar.tsx'
import { EventTable } from './event-table.tsx'
import { limitSentences } from './event-words.ts'
import { eventsHeadline, windowHeadline } from './events-headline.ts'
import { RulesPanel } from './rules-panel.tsx'

/** The events of traceback rules: open events first, then ended events. */
export function EventsPage() {
  usePageTitle('Events')
  useEventsStream()
  const page = usePageState()
  const nowMs = useToldSecond()
  const tense = useTense()
  const { data, error } = useEvents(eventsRequest(page.url, nowMs))
  // The headline covers the whole node, regardless of filters.
  const all = useEvents(EVENTS_COUNTED).data
  const known = useDevices().data?.devices ?? []
  const asked = windowOf(page.url, nowMs)
  const from = asked?.kind === 'fixed' ? asked.fromMs : 0
  const to = asked?.kind === 'fixed' ? asked.toMs : 0
  const window = useMemo<FrameRange | undefined>(
    () => (to === 0 ? undefined : { kind: 'fixed', fromMs: from, toMs: to }),
    [from, to],
  )
  const moment = useMoment(window)
  const seen = useMomentHints(moment)
  const isOver = page.url.toMs !== undefined
  const hintCount = allHints(seen).length
  const hints = (
    <PanelBoundary>
      <HintsPanel devices={known} window={window} />
    </PanelBoundary>
  )
  const open = (all ?? data)?.events.find(({ endMs }) => endMs === undefined)
  return (
    <>
      <PageHead title="Events" note="opened by rules of traceback; hints of the same time stand beside them" />
      {data?.rulesFault && (
        <Banner
          notices={[
            {
              id: 'rules',
              tone: 'warning',
              fact: 'The file of rules is not in use.',
              detail: `${data.rulesFault.replace(/\.?$/, '.')} ${
                data.rules.length > 0 ? 'The previous rules stay in effect.' : 'No rule watches.'
              }`,
            },
          ]}
        />
      )}
      {!data && error && <Unanswered fact="The events are not known." error={error} onRetry={retryEvents} />}
      {!data && !error && <Outlines panels={3} waitsFor="the list of events" />}
      {data && isEverything(data, page.url) && data.rules.length === 0 ? (
        <>
          <NoRules answer={data} hintCount={hintCount} />
          {hints}
        </>
      ) : (
        data && (
          <>
            <Headline
              text={
                isOver
                  ? windowHeadline(data, seen.isKnown || hintCount > 0 ? hintCount : undefined)
                  : eventsHeadline(all ?? data, nowMs, tense, known)
              }
              moment={isOver ? moment.words : ''}
              announced={isOver ? '' : `${(all ?? data).openCount} open`}
              actions={!isOver && open && <OpenEvent id={open.id} />}
            />
            <PanelBoundary>
              <section className="panel" aria-labelledby="event-table">
                <header className="panel-head has-line is-centred">
                  <h2 id="event-table" className="panel-title">
                    Events
                  </h2>
                  <span className="panel-caption num">{countText(data.events.length, 'event')}</span>
                  <EventFilters answer={data} devices={known} />
                </header>
                {data.events.length === 0 ? (
                  <NothingListed answer={data} />
                ) : (
                  <EventTable events={data.events} devices={known} />
                )}
                <Limits answer={data} />
              </section>
            </PanelBoundary>
            {hints}
            <PanelBoundary>
              <RulesPanel rules={data.rules} devices={known} />
            </PanelBoundary>
          </>
        )
      )}
    </>
  )
}

function isEverything({ events }: EventsAnswer, url: Parameters<typeof isFiltered>[0]): boolean {
  return events.length === 0 && !isFiltered(url)
}

function OpenEvent({ id }: { readonly id: number }) {
  const page = usePageState()
  return (
    <Link className="button is-primary" href={page.hrefTo(`/events/${id}`, { fromMs: undefined, toMs: undefined })}>
      Open event
    </Link>
  )
}

/** Sentences on the events missing from the list. */
function Limits({ answer }: { readonly answer: EventsAnswer }) {
  const sentences = limitSentences(answer)
  return sentences.length > 0 ? <p className="panel-note event-limits">{sentences.join(' ')}</p> : null
}

/** Why there are no events, with a mention of hints if there are any. */
function NoRules({ answer, hintCount }: { readonly answer: EventsAnswer; readonly hintCount: number }) {
  return answer.rulesFault ? (
    <Empty icon="warning" fact="No rule watches.">
      The file of rules was refused, and there was none before it. Correct the file: it is read again when it changes.
    </Empty>
  ) : (
    <Empty
      fact={
        hintCount > 0
          ? `${countText(hintCount, 'hint')}, and no event: no rule of traceback is configured.`
          : 'No rule of traceback is configured.'
      }
    >
      Hints are built in, and listed below. Events keep every sample around a moment, and are opened by rules of yours:
      name a file of rules as <code className="mono">traceback.rules</code> in the configuration of{' '}
      <code className="mono">sonde up</code>; the language is in docs/traceback.md.
    </Empty>
  )
}

function NothingListed({ answer }: { readonly answer: EventsAnswer }) {
  const page = usePageState()
  if (!isFiltered(page.url))
    return (
      <Empty icon="ok" fact="No event yet.">
        {answer.rules.length === 1 ? 'The rule below watches' : `${countText(answer.rules.length, 'rule')} watch`}; the
        first event appears here by itself.
      </Empty>
    )
  return (
    <Empty fact="No event matches.">
      Other events may be kept.{' '}
      <button type="button" className="button" onClick={() => page.change(NO_FILTER, 'replace')}>
        Show all events
      </button>
    </Empty>
  )
}

const NO_FILTER = {
  rule: undefined,
  device: undefined,
  state: undefined,
  withinMs: undefined,
  fromMs: undefined,
  toMs: undefined,
} as const
