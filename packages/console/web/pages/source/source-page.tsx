import { useMemo } from 'react'
import { Link } from 'wouter'
import { useExplain } from '../../api/explain.ts'
import { useSeriesOfTypes, useSource, useTypes } from '../../api/resources.ts'
import type { SourceDetail } from '../../api/types.ts'
import { Outlines } from '../../components/answer-state.tsx'
import { Empty } from '../../components/empty.tsx'
import { PanelBoundary } from '../../components/error-boundary.tsx'
import { Facts } from '../../components/facts.tsx'
import { Headline } from '../../components/headline.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { usePageState } from '../../state/time-window.ts'
import { ExplainChain } from '../explain/explain-chain.tsx'
import { AbsenceTable } from '../sources/absence-table.tsx'
import { groupAbsences } from '../sources/absences.ts'
import { sourcePanels } from '../sources/self-charts.ts'
import { SelfCharts } from '../sources/self-charts-grid.tsx'
import { usePageTitle } from '../use-page-title.ts'
import { FailedReads } from './failed-reads.tsx'
import { asSentence, sourceFacts, sourceHeadline } from './source-facts.ts'
import { SourceReports } from './source-reports.tsx'
import { SourceSettings } from './source-settings.tsx'

/** One source: what it does, why it does not, what it was told, and what it reports. */
export function SourcePage({ name }: { readonly name: string }) {
  usePageTitle(name)
  const page = usePageState()
  const { data, error } = useSource(name)
  const walk = useExplain(name)
  return (
    <>
      <PageHead
        title={name}
        parent={{ label: 'Sources', href: page.hrefTo('/sources') }}
        note={data ? asSentence(data.summary) : undefined}
      >
        {data && (
          <button type="button" className="button" disabled={walk.isWalking} onClick={walk.again}>
            Walk again
          </button>
        )}
      </PageHead>
      {!data && !error && <Outlines panels={3} />}
      {!data && error && <NoSource name={name} error={error} />}
      {data && (
        <>
          <Headline text={sourceHeadline(data)} />
          <Facts label="How it fares" facts={sourceFacts(data)} />
          <Walk walk={walk} />
          <Charts name={name} />
          <PanelBoundary>
            <SourceSettings settings={data.settings} />
          </PanelBoundary>
          <PanelBoundary>
            <SourceReports reports={data.reports} />
          </PanelBoundary>
          <FailedReads failures={data.failures} />
          <Absences source={data} />
        </>
      )}
    </>
  )
}

function NoSource({ name, error }: { readonly name: string; readonly error: { status: number; message: string } }) {
  const page = usePageState()
  if (error.status !== 404)
    return (
      <Empty icon="critical" fact={`${name} is not known.`}>
        {asSentence(error.message)}
      </Empty>
    )
  return (
    <Empty fact={`No source here is called "${name}".`}>
      It may be switched off in the configuration. <Link href={page.hrefTo('/sources')}>All sources</Link>
    </Empty>
  )
}

/** The chain behind its values; a walk that was refused says why in its place. */
function Walk({ walk: { answer, error } }: { readonly walk: ReturnType<typeof useExplain> }) {
  if (answer)
    return (
      <PanelBoundary>
        <ExplainChain answer={answer} />
      </PanelBoundary>
    )
  if (!error) return null
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

function Absences({ source }: { readonly source: SourceDetail }) {
  const { data: known } = useTypes()
  const names = source.types.filter((name) => known?.types.some((type) => type.name === name))
  const { data } = useSeriesOfTypes(names)
  const absences = useMemo(() => groupAbsences(data?.series ?? []), [data])
  if (names.length === 0) return null
  return <AbsenceTable absences={absences} isReady={data !== undefined} />
}
