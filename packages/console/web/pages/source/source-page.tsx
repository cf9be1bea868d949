import type { LatestSeries, SourceAnswer } from '@sonde/sdk/api'
import { useMemo } from 'react'
import { Link } from 'wouter'
import type { ApiError } from '../../api/client.ts'
import { type ExplainState, useExplain } from '../../api/explain.ts'
import { useSeriesOfTypes, useSource, useSources, useTypes } from '../../api/resources.ts'
import { useTense } from '../../api/stale.ts'
import { Outlines } from '../../components/answer-state.tsx'
import { Empty } from '../../components/empty.tsx'
import { PanelBoundary } from '../../components/error-boundary.tsx'
import { Facts } from '../../components/facts.tsx'
import { Headline } from '../../components/headline.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { asSentence } from '../../format/words.ts'
import { usePageState } from '../../state/time-window.ts'
import { ExplainChain } from '../explain/explain-chain.tsx'
import { AbsenceTable } from '../sources/absence-table.tsx'
import { groupAbsences } from '../sources/absences.ts'
import { sourcePanels } from '../sources/self-charts.ts'
import { SelfCharts } from '../sources/self-charts-grid.tsx'
import { usePageTitle } from '../use-page-title.ts'
import { FailedReadTable } from './failed-read-table.tsx'
import { sourceFacts, sourceHeadline } from './source-facts.ts'
import { SourceReportTable } from './source-report-table.tsx'
import { SourceSettings } from './source-settings.tsx'
import { SourceVersions } from './source-versions.tsx'
import { TargetTables } from './target-tables.tsx'

/** The page of a source: state, causes of failure, settings, and reported types. */
export function SourcePage({ name }: { readonly name: string }) {
  usePageTitle(name)
  const { data: list, error } = useSources()
  if (list?.sources.some((source) => source.name === name)) return <KnownSource name={name} />
  return (
    <>
      <SourceHead name={name} />
      {list && <NoSource name={name} />}
      {!list && !error && <Outlines panels={3} waitsFor="the list of sources" />}
      {!list && error && <NotKnown name={name} error={error} />}
    </>
  )
}

function SourceHead({ name, summary }: { readonly name: string; readonly summary?: string }) {
  const page = usePageState()
  return (
    <PageHead
      title={name}
      parent={{ label: 'Sources', href: page.hrefTo('/sources') }}
      note={summary && asSentence(summary)}
    />
  )
}

function KnownSource({ name }: { readonly name: string }) {
  const { data, error } = useSource(name)
  const walk = useExplain(name)
  const tense = useTense()
  if (!data) {
    return (
      <>
        <SourceHead name={name} />
        {error ? <NotKnown name={name} error={error} /> : <Outlines panels={3} waitsFor="the source" />}
      </>
    )
  }
  return (
    <>
      <SourceHead name={name} summary={data.summary} />
      <Headline text={sourceHeadline(data, tense)} />
      <Facts label="How it fares" facts={sourceFacts(data)} />
      {data.targets.length > 0 && <TargetTables targets={data.targets} />}
      {data.failures.length > 0 && <FailedReadTable failures={data.failures} />}
      <Walk walk={walk} />
      {data.versions.length > 0 && <SourceVersions versions={data.versions} />}
      {data.samples > 0 && <Charts name={name} />}
      <PanelBoundary>
        <SourceSettings settings={data.settings} />
      </PanelBoundary>
      <PanelBoundary>
        <SourceReportTable reports={data.reports} />
      </PanelBoundary>
      {data.samples > 0 && <Absences source={data} />}
    </>
  )
}

function NoSource({ name }: { readonly name: string }) {
  const page = usePageState()
  return (
    <Empty fact={`No source here is called "${name}".`}>
      The configuration does not name it, or switches it off. <Link href={page.hrefTo('/sources')}>All sources</Link>
    </Empty>
  )
}

function NotKnown({ name, error }: { readonly name: string; readonly error: ApiError }) {
  return (
    <Empty icon="critical" fact={`How ${name} fares is not known.`}>
      {asSentence(error.message)}
    </Empty>
  )
}

/** The explanation of its values, or the error of the request. */
function Walk({ walk }: { readonly walk: ExplainState }) {
  const { answer, error } = walk
  if (answer)
    return (
      <PanelBoundary>
        <ExplainChain answer={answer} walk={walk} />
      </PanelBoundary>
    )
  if (!error) return <div className="panel outline" aria-busy="true" />
  return (
    <Empty icon="critical" fact="It cannot be explained.">
      {asSentence(error.message)}
    </Empty>
  )
}

function Charts({ name }: { readonly name: string }) {
  const panels = useMemo(() => sourcePanels(name), [name])
  return <SelfCharts panels={panels} />
}

/** Absent values of the source. Simulated series belong to the simulator, whatever their type. */
function Absences({ source: { type, types } }: { readonly source: SourceAnswer }) {
  const { data: known } = useTypes()
  const names = types.filter((name) => known?.types.some((one) => one.name === name))
  const { data } = useSeriesOfTypes(names)
  const absences = useMemo(() => {
    const isOwn = ({ labels }: LatestSeries): boolean => (labels.simulated === 'true') === (type === 'simulator')
    return groupAbsences((data?.series ?? []).filter(isOwn))
  }, [data, type])
  if (names.length === 0) return null
  return <AbsenceTable absences={absences} isReady={data !== undefined} />
}
