import type { Incident, MetricQuery } from '@sonde/sdk/api'
import { type ReactNode, useMemo } from 'react'
import type { DeviceInfo } from '../../api/devices.ts'
import { type KnownColumns, useKnownColumns } from '../../api/use-known-columns.ts'
import { AnswerState, Outlines } from '../../components/answer-state.tsx'
import { Empty } from '../../components/empty.tsx'
import { PanelBoundary } from '../../components/error-boundary.tsx'
import { type Fact, Facts } from '../../components/facts.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { AffectedMark } from '../../devices/affected-mark.tsx'
import { deviceTitle, matchersFor } from '../../devices/device.ts'
import { lastValue, meansWords, type ReadSpan } from '../../devices/device-reading.ts'
import { deviceSentence, goneWords } from '../../devices/device-sentence.ts'
import { worstByDevice } from '../../devices/hint-words.ts'
import { deviceAt } from '../../devices/moment-hints.ts'
import { usePageState } from '../../state/time-window.ts'
import { CounterTable } from '../counters/counter-table.tsx'
import { HintHeadline } from '../hint-headline.tsx'
import { useAffected } from '../use-affected.ts'
import { type PageMoment, useMoment } from '../use-moment.ts'
import { useMomentHints, useSpokenMoment } from '../use-moment-hints.ts'
import { usePageTitle } from '../use-page-title.ts'
import { DeviceLinks } from './device-links.tsx'
import { type DeviceReadings, deviceReadings } from './device-readings.ts'
import { useLastKnownRange, useLatest } from './device-samples.ts'
import { awaitedFact, type Judge, judgeBy } from './facts.ts'
import { panelQueries, queryOf } from './panel-queries.ts'
import { type DeviceSection, PanelSections, SectionLinks } from './panel-sections.tsx'
import { Relations } from './relations.tsx'

interface DevicePageProps {
  readonly device: DeviceInfo
  readonly parent: { readonly label: string; readonly path: string }
  /** The device that rules name if it is another device, such as the NIC of a PCIe link. Default: the device. */
  readonly subject?: DeviceInfo | undefined
  /** Words beside the name. */
  readonly note: readonly string[]
  readonly sections: readonly DeviceSection[]
  /** Types whose fields fill the table of counters. */
  readonly types: readonly string[]
  readonly facts: (readings: DeviceReadings) => readonly Fact[]
  /** Metrics that facts read with {@link DeviceReadings.exact} and {@link DeviceReadings.all}. */
  readonly totals?: readonly string[]
  /** The sentence of the page. Default: what rules say of the device. */
  readonly headline?: ReactNode
  /** Content before the charts. */
  readonly lead?: ReactNode
  /** Content between the charts and the counters. */
  readonly children?: ReactNode
}

const NO_TOTALS: readonly string[] = []

/** Everything about a device: hints, facts, charts and all counters. */
export function DevicePage({
  device,
  parent,
  subject = device,
  note,
  sections,
  types,
  facts,
  totals = NO_TOTALS,
  headline,
  lead,
  children,
}: DevicePageProps) {
  const title = deviceTitle(device)
  usePageTitle(title)
  const page = usePageState()
  const moment = useMoment()
  const latest = useLatest(device, types)
  const panels = useMemo(() => sections.flatMap((section) => section.panels), [sections])
  const queries = useMemo(
    () => [
      ...panelQueries(device, panels),
      ...totals.flatMap((metric) => queryOf(device, { metric, function: 'last' }) ?? []),
    ],
    [device, panels, totals],
  )
  const range = useLastKnownRange(device, moment)
  const recent = useKnownColumns(queries, range, moment.stepMs)
  const judge = useJudge(subject, moment)
  const readings = useMemo(
    () => ({ ...deviceReadings(device, recent, moment, moment.isNow ? (latest.data ?? []) : []), judge }),
    [device, recent, latest.data, moment, judge],
  )
  const isAwaited = latest.data === undefined && latest.error === undefined
  const isUnknown = latest.data === undefined && latest.error !== undefined
  const affectedBy = useAffected(moment.window).get(subject.id)
  const gone = goneWords(device, page.url.tz ?? 'utc')
  return (
    <>
      <PageHead
        title={title}
        parent={{ label: parent.label, href: page.hrefTo(parent.path) }}
        note={
          <>
            {[...note, figuresNote(device, moment)].filter(Boolean).join(' · ')} <AffectedMark by={affectedBy} />
          </>
        }
      >
        <DeviceLinks device={device} />
      </PageHead>
      <SectionLinks sections={sections} />
      {headline ?? (
        <DeviceHeadline
          device={subject}
          isSilent={subject === device && isSilentIn(device, queries, recent, moment)}
          affectedBy={affectedBy ?? []}
        />
      )}
      <Facts
        label={factsLabel(title, device, moment)}
        facts={recent.isReady ? facts(readings) : facts(readings).map(awaitedFact)}
      />
      <Relations device={device} />
      {lead}
      <AnswerState answer={recent} panels={panels.length} />
      {recent.isReady && isAwaited && <Outlines panels={panels.length} waitsFor="the exact values of the device" />}
      {recent.isReady && !isAwaited && (
        <PanelSections
          device={device}
          subject={subject}
          sections={sections}
          readings={readings}
          latest={latest.data}
          catalogue={latest.catalogue}
        />
      )}
      {children}
      {isUnknown && (
        <Empty icon="critical" fact="The counters are not known.">
          {latest.error?.message}
        </Empty>
      )}
      {latest.types.length > 0 && !isUnknown && (
        <PanelBoundary>
          <CounterTable
            types={latest.types}
            latest={latest.data}
            matchersFor={(metric) => matchersFor(device, metric)}
            shared={device.labels}
            goneWords={gone}
          />
        </PanelBoundary>
      )}
    </>
  )
}

function figuresNote({ state }: DeviceInfo, moment: PageMoment): string {
  return moment.isNow && state === 'gone' ? 'figures are the last known' : `figures are ${meansWords(moment)}`
}

function factsLabel(title: string, { state }: DeviceInfo, { isNow }: PageMoment): string {
  if (!isNow) return `${title} in the window`
  return state === 'gone' ? `${title} as it was last known` : `${title} now`
}

/** Colours facts by the hints of a device at the moment of the page. */
function useJudge(subject: DeviceInfo, moment: PageMoment): Judge {
  const { hints } = useMomentHints(moment)
  return useMemo(() => {
    const own = hints.filter(({ device }) => device === subject.id)
    return judgeBy(own, deviceTitle(subject))
  }, [hints, subject])
}

/** Whether no query has a recent value; false before the first answer. */
function isSilentIn(
  { kind }: DeviceInfo,
  queries: readonly MetricQuery[],
  recent: KnownColumns,
  span: ReadSpan,
): boolean {
  const { isReady, grid } = recent
  if (!isReady || grid === undefined) return false
  const found = queries.flatMap((query) => recent.columns(query))
  // A bridge has no values, but its link is still checked by rules.
  if (found.length === 0) return kind === 'gpu' || kind === 'nic'
  return found.every((column) => Number.isNaN(lastValue(grid.slice(column), span)))
}

function DeviceHeadline({
  device,
  ...more
}: {
  readonly device: DeviceInfo
  readonly isSilent: boolean
  readonly affectedBy: readonly Incident[]
}) {
  const moment = useMoment()
  const seen = useMomentHints(moment)
  const spoken = useSpokenMoment(moment)
  if (!seen.data && !seen.error) return <div className="headline is-awaited" />
  const text = deviceSentence(deviceAt(device, moment.toMs), seen, spoken, more)
  const worst = worstByDevice(seen.hints).get(device.id)
  return <HintHeadline text={text} moment={moment.words} toMs={moment.toMs} worst={worst} />
}
