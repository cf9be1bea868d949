import type { Incident, IncidentsAnswer } from '@sonde/sdk/api'
import { useEffect, useState } from 'react'
import { Link } from 'wouter'
import { useDevices } from '../../api/devices.ts'
import { moreIncidents, OPEN_INCIDENTS, retryIncidents, useIncidents } from '../../api/incidents.ts'
import { useIncidentsStream } from '../../api/incidents-stream.ts'
import { useTense, useToldSecond } from '../../api/stale.ts'
import { Outlines } from '../../components/answer-state.tsx'
import { Banner } from '../../components/banner.tsx'
import { Empty } from '../../components/empty.tsx'
import { PanelBoundary } from '../../components/error-boundary.tsx'
import { Headline } from '../../components/headline.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { Panel } from '../../components/panel.tsx'
import { Unanswered } from '../../components/unanswered.tsx'
import { incidentPath } from '../../devices/incident-path.ts'
import { unknownWords } from '../../devices/moment-hints.ts'
import { countText } from '../../format/number.ts'
import { usePageState } from '../../state/time-window.ts'
import { useMoment } from '../use-moment.ts'
import { usePageTitle } from '../use-page-title.ts'
import { useRested } from '../use-rested.ts'
import { incidentsRequest, isFiltered, NO_FILTER } from './incident-filters.ts'
import { IncidentFilters } from './incident-filters-bar.tsx'
import { IncidentTable } from './incident-table.tsx'
import { incidentsHeadline, windowHeadline, worstFirst } from './incident-words.ts'
import { PinsPanel } from './pins-panel.tsx'
import { RulesPanel } from './rules-panel.tsx'

/** Pause after the last keystroke before a filter is sent. Unit: milliseconds. */
const REST_MS = 250

/** What happened to the node: hints of one cause together, and events of traceback. Open incidents come first. */
export function IncidentsPage() {
  usePageTitle('Incidents')
  useIncidentsStream()
  const page = usePageState()
  const nowMs = useToldSecond()
  const tense = useTense()
  const q = useRested(page.url.q ?? '', REST_MS)
  const request = incidentsRequest({ ...page.url, q }, nowMs)
  const { data, error } = useIncidents(request)
  const further = useFurther(data, (cursor) => moreIncidents(request, cursor))
  const moment = useMoment()
  const isOver = page.url.toMs !== undefined
  // The headline of now covers the whole node, regardless of filters; that of a past window tells what is listed.
  const all = useIncidents(OPEN_INCIDENTS).data
  const known = useDevices().data?.devices ?? []
  const [open] = worstFirst((all ?? data)?.incidents.filter(({ state }) => state === 'open') ?? [])
  const incidents = [...(data?.incidents ?? []), ...further.incidents]
  return (
    <>
      <PageHead title="Incidents" note="hints of one cause together, and events of traceback" />
      {data?.traceback.fault && <RulesFault answer={data} fault={data.traceback.fault} />}
      {!data && error && <Unanswered fact="The incidents are not known." error={error} onRetry={retryIncidents} />}
      {!data && !error && <Outlines panels={3} waitsFor="the list of incidents" />}
      {data && (
        <>
          <Headline
            text={isOver ? windowHeadline(data) : incidentsHeadline(all ?? data, nowMs, tense, known)}
            moment={isOver ? moment.words : ''}
            announced={isOver ? '' : `${(all ?? data).openCount} open`}
            actions={!isOver && open && <OpenIncident id={open.id} />}
          />
          <PanelBoundary>
            <Panel
              id="incident-table"
              title="Incidents"
              caption={countText(incidents.length, 'incident')}
              more={<IncidentFilters answer={data} devices={known} />}
            >
              {incidents.length === 0 ? (
                <NothingListed answer={data} />
              ) : (
                <IncidentTable incidents={incidents} devices={known} />
              )}
              <ListNotes answer={data} more={further.more} />
            </Panel>
          </PanelBoundary>
          <PanelBoundary>
            <PinsPanel devices={known} />
          </PanelBoundary>
          <PanelBoundary>
            <RulesPanel rules={data.traceback.watching} devices={known} />
          </PanelBoundary>
        </>
      )}
    </>
  )
}

/** The incidents behind the first answer, which a button requests. They are dropped when the first answer changes. */
function useFurther(data: IncidentsAnswer | undefined, load: (cursor: string) => Promise<IncidentsAnswer>) {
  const [pages, setPages] = useState<readonly IncidentsAnswer[]>([])
  const next = data?.next
  // biome-ignore lint/correctness/useExhaustiveDependencies: another cursor belongs to another list
  useEffect(() => setPages([]), [next])
  const cursor = (pages.at(-1) ?? data)?.next
  const incidents: readonly Incident[] = pages.flatMap((one) => one.incidents)
  const more =
    cursor === undefined
      ? undefined
      : () => void load(cursor).then((answer) => setPages((before) => [...before, answer]), retryIncidents)
  return { incidents, more }
}

function RulesFault({ answer, fault }: { readonly answer: IncidentsAnswer; readonly fault: string }) {
  const isWatching = answer.traceback.watching.length > 0
  const detail = `${fault.replace(/\.?$/, '.')} ${isWatching ? 'The previous rules stay in effect.' : 'No rule watches.'}`
  return <Banner notices={[{ id: 'rules', tone: 'warning', fact: 'The file of rules is not in use.', detail }]} />
}

function OpenIncident({ id }: { readonly id: string }) {
  const page = usePageState()
  return (
    <Link className="button is-primary" href={page.hrefTo(incidentPath(id), { fromMs: undefined, toMs: undefined })}>
      Open incident
    </Link>
  )
}

/** Sentences about incidents that are missing in the list, and a button that loads more. */
function ListNotes({ answer, more }: { readonly answer: IncidentsAnswer; readonly more: (() => void) | undefined }) {
  const zone = usePageState().url.tz ?? 'utc'
  const { limited, removed } = answer.traceback
  const sentences = [
    answer.unshown?.reason ?? '',
    answer.incidents.length > 0 ? unknownWords(answer.unknown.slice(-2), zone) : '',
    limited > 0 ? `${countText(limited, 'event')} came faster than the limit a minute; the log has them.` : '',
    removed > 0 ? `${countText(removed, 'event')} made room for others since the start.` : '',
  ].filter(Boolean)
  if (sentences.length === 0 && more === undefined) return null
  return (
    <p className="panel-note incident-notes-line">
      {sentences.join(' ')}{' '}
      {more && (
        <button type="button" className="button" onClick={more}>
          Show more incidents
        </button>
      )}
    </p>
  )
}

function NothingListed({ answer }: { readonly answer: IncidentsAnswer }) {
  const page = usePageState()
  const zone = page.url.tz ?? 'utc'
  if (!isFiltered(page.url))
    return (
      <Empty icon="ok" fact="No incident yet.">
        {countText(answer.rules, 'rule')} of hints watch; the first incident appears here by itself.
      </Empty>
    )
  return (
    <Empty fact="No incident matches.">
      {unknownWords(answer.unknown.slice(-1), zone)} Other incidents may be kept.{' '}
      <button type="button" className="button" onClick={() => page.change(NO_FILTER, 'replace')}>
        Show all incidents
      </button>
    </Empty>
  )
}
