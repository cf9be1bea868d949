import type { IncidentAnswer } from '@sonde/sdk/api'
import { useState } from 'react'
import { Link } from 'wouter'
import { type DeviceInfo, useDevices } from '../../api/devices.ts'
import { useIncident } from '../../api/incidents.ts'
import { useIncidentsStream } from '../../api/incidents-stream.ts'
import { useToldSecond } from '../../api/stale.ts'
import { Outlines } from '../../components/answer-state.tsx'
import { Empty } from '../../components/empty.tsx'
import { PanelBoundary } from '../../components/error-boundary.tsx'
import { Facts } from '../../components/facts.tsx'
import { Headline } from '../../components/headline.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { SimulatedMark } from '../../components/simulated-mark.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import { useShowsWindow } from '../../state/own-window.ts'
import { usePageState } from '../../state/time-window.ts'
import { EventPage } from '../event/event-page.tsx'
import { incidentState } from '../incidents/incident-words.ts'
import type { KernelMessages } from '../kernel-marks.ts'
import { usePageTitle } from '../use-page-title.ts'
import { AffectedPanel } from './affected-panel.tsx'
import { EffectsPanel } from './effects-panel.tsx'
import { EvidenceCharts } from './evidence-charts.tsx'
import { IncidentActions } from './incident-actions.tsx'
import { incidentFacts, incidentHead } from './incident-facts.ts'
import { type IncidentMarks, useIncidentMarks } from './incident-range.ts'
import { KernelPanel } from './kernel-panel.tsx'
import { MovedPanel } from './moved-panel.tsx'
import { NotesPanel } from './notes-panel.tsx'
import { PinPanel } from './pin-panel.tsx'
import { TrainingCharts } from './training-charts.tsx'
import { useHrefThen } from './use-href-then.ts'
import { useKernelEvidence } from './use-kernel-evidence.ts'
import { useSeenAffected } from './use-seen-affected.ts'

/** Numbers of events of traceback are shorter than those of hints. */
const EVENT_ID = /:\d{1,16}$/

/** One incident, at an address that stays: a cause with its effects, or an event of traceback. */
export function IncidentPage({ id }: { readonly id: string }) {
  useIncidentsStream()
  return EVENT_ID.test(id) ? (
    <EventPage id={id}>
      <Notes id={id} />
    </EventPage>
  ) : (
    <HintIncident id={id} />
  )
}

function Notes({ id }: { readonly id: string }) {
  const { data } = useIncident(id)
  return data ? (
    <>
      <PinPanel answer={data} />
      <NotesPanel answer={data} />
    </>
  ) : null
}

function HintIncident({ id }: { readonly id: string }) {
  const page = usePageState()
  const { data, error, refresh } = useIncident(id)
  usePageTitle(data ? data.incident.title : 'Incident')
  if (data) return <Known answer={data} />
  const head = <PageHead title="Incident" parent={{ label: 'Incidents', href: page.hrefTo('/incidents') }} />
  if (!error)
    return (
      <>
        {head}
        <Outlines panels={3} waitsFor="the incident" />
      </>
    )
  const isGone = error.status === 404
  return (
    <>
      {head}
      <Empty icon="critical" fact={isGone ? `There is no incident ${id}.` : 'The incident did not come.'}>
        {isGone ? 'Its records were removed with the history, or it belongs to another node. ' : `${error.message} `}
        {isGone ? (
          <Link href={page.hrefTo('/incidents')}>Incidents that are kept</Link>
        ) : (
          <button type="button" className="button" onClick={refresh}>
            Try now
          </button>
        )}
      </Empty>
    </>
  )
}

function Known({ answer: told }: { readonly answer: IncidentAnswer }) {
  const answer = useSeenAffected(told)
  const { incident } = answer
  // A page that was opened on an open incident keeps its places when the incident ends.
  const [isLive] = useState(incident.state === 'open')
  const page = usePageState()
  const nowMs = useToldSecond()
  const known = useDevices().data?.devices ?? []
  const zone = page.url.tz ?? 'utc'
  const hrefThen = useHrefThen(answer)
  const messages = useKernelEvidence(answer, known)
  const marks = useIncidentMarks(answer, messages)
  useShowsWindow(answer.window.fromMs, answer.window.toMs)
  return (
    <>
      <PageHead
        title={incident.title}
        parent={{ label: 'Incidents', href: page.hrefTo('/incidents') }}
        note={
          <span className="event-note">
            <StateMark {...incidentState(incident)} /> <SimulatedMark of={{ simulated: incident.isSimulated }} />
          </span>
        }
      >
        <IncidentActions answer={answer} devices={known} />
      </PageHead>
      <div className={isLive ? 'incident-head is-live' : 'incident-head'}>
        <Headline text={incidentHead(answer, nowMs, zone)} announced={incident.state} />
      </div>
      <Facts label="The incident" facts={incidentFacts(answer, known, { nowMs, zone, hrefTo: hrefThen })} />
      <PanelBoundary>
        <EvidenceCharts answer={answer} marks={marks} />
      </PanelBoundary>
      {isLive ? (
        <LiveParts answer={answer} devices={known} messages={messages} marks={marks} />
      ) : (
        <EndedParts answer={answer} devices={known} messages={messages} marks={marks} />
      )}
    </>
  )
}

interface PartsProps {
  readonly answer: IncidentAnswer
  readonly devices: readonly DeviceInfo[]
  readonly messages: readonly KernelMessages[]
  readonly marks: IncidentMarks
}

function EndedParts({ answer, devices, messages, marks }: PartsProps) {
  return (
    <div className="event-columns">
      <div className="event-main">
        {messages.length > 0 && <KernelPanel answer={answer} messages={messages} devices={devices} />}
        {answer.incident.hints.length > 1 && <EffectsPanel answer={answer} devices={devices} />}
        <PanelBoundary>
          <TrainingCharts answer={answer} marks={marks} />
        </PanelBoundary>
        <PanelBoundary>
          <AffectedPanel answer={answer} devices={devices} />
        </PanelBoundary>
        <PanelBoundary>
          <MovedPanel answer={answer} devices={devices} />
        </PanelBoundary>
      </div>
      <div className="event-main">
        <PinPanel answer={answer} />
        <NotesPanel answer={answer} />
      </div>
    </div>
  )
}

/** The lists of an open incident grow: each scrolls in a box, and nothing stands below the lists that may come late. */
function LiveParts({ answer, devices, messages, marks }: PartsProps) {
  return (
    <div className="event-columns is-live">
      <div className="event-main">
        <PinPanel answer={answer} />
        <NotesPanel answer={answer} />
      </div>
      <div className="event-main">
        <PanelBoundary>
          <AffectedPanel answer={answer} devices={devices} />
        </PanelBoundary>
        <PanelBoundary>
          <TrainingCharts answer={answer} marks={marks} />
        </PanelBoundary>
        <PanelBoundary>
          <MovedPanel answer={answer} devices={devices} />
        </PanelBoundary>
        {answer.incident.hints.length > 1 && <EffectsPanel answer={answer} devices={devices} />}
        {messages.length > 0 && <KernelPanel answer={answer} messages={messages} devices={devices} />}
      </div>
    </div>
  )
}
